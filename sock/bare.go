package sock

import (
	"context"
	"fmt"
	"os"
	"time"
)

// bareProgram imports what a fresh sandbox imports, says so, and ends.
const bareProgram = "import sys; sys.path.insert(0, '/runtime'); from olrt import child; import os; os.write(3, b'x')"

// BarePython measures how long python3 takes in the base root to have imported
// what a sandbox imports, with no namespaces, cgroup, set-up or lambda: the
// floor of a start without zygote and pool.
func (p *Provider) BarePython(ctx context.Context) (time.Duration, error) {
	_, end, err := p.roster.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	read, write, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("make pipe: %w", err)
	}
	defer read.Close()
	defer write.Close()
	begin := time.Now()
	pid, pidfd, err := p.spawner.start(spawnJob{
		args:  []string{"-I", "-B", "-c", bareProgram},
		files: []*os.File{p.null, p.null, p.null, write},
	})
	if err != nil {
		return 0, err
	}
	proc, err := newProcess(pid, pidfd, &p.wg)
	if err != nil {
		return 0, err
	}
	write.Close()
	stop := context.AfterFunc(ctx, proc.kill)
	defer stop()
	var b [1]byte
	_, err = read.Read(b[:])
	took := time.Since(begin)
	<-proc.done
	if err != nil {
		return 0, fmt.Errorf("start bare python: %s: %w", proc.exitText(), err)
	}
	return took, nil
}
