package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

func logsCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "logs",
		Usage:     "print what a lambda printed",
		ArgsUsage: "NAME",
		Flags: []cli.Flag{
			pathFlag(), jsonFlag(),
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as more is printed, until interrupted"},
			&cli.IntFlag{Name: "tail", Aliases: []string{"n"}, Value: -1, Usage: "only the last `LINES`"},
		},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 1, 1, "NAME"); err != nil {
				return err
			}
			return logs(s, c, c.Args().First())
		},
	}
}

func logs(s streams, c *cli.Context, name string) error {
	if err := lambda.CheckName(name); err != nil {
		return usage("", "read logs: %s", err)
	}
	n, err := openNode(s, workerDir(s, c))
	if errors.Is(err, fs.ErrNotExist) {
		return fail(codeNotFound, "read logs of "+name, fmt.Errorf("%s is no worker's directory", workerDir(s, c)), "name it: ol logs "+name+" -p DIR")
	}
	if err != nil {
		return err
	}
	tail := &follower{
		path:  filepath.Join(n.config.WorkerDir, api.LogDir, name+".log"),
		write: func(line string) error { return writeLogLine(s, c.Bool("json"), line) },
	}
	defer tail.close()
	err = tail.begin(c.Int("tail"))
	if errors.Is(err, fs.ErrNotExist) && !c.Bool("follow") {
		return fail(codeNotFound, "read logs of "+name, errors.New("it has printed nothing yet"), "see what is installed: ol list"+pathHint(c))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(codeFailed, "read logs of "+name, err, "")
	}
	if !c.Bool("follow") {
		return nil
	}
	if err != nil {
		s.say("%s has printed nothing yet, waiting", name)
	}
	return tail.follow(c.Context)
}

func writeLogLine(s streams, asJSON bool, line string) error {
	if asJSON {
		// One object to a line: what follows a log reads line by line.
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(parseLogLine(line))
	}
	_, err := fmt.Fprintln(s.out, line)
	return err
}

// logLine is the JSON form of one line of a log.
type logLine struct {
	Time    string `json:"time,omitempty"`    // RFC 3339
	Request string `json:"request,omitempty"` // id of the request that printed it
	Line    string `json:"line"`
}

// parseLogLine takes a line of a log apart; one that is not of that form is
// taken whole.
func parseLogLine(text string) logLine {
	when, rest, _ := strings.Cut(text, " ")
	request, line, ok := strings.Cut(rest, " ")
	if _, err := time.Parse(time.RFC3339, when); err != nil || !ok {
		return logLine{Line: text}
	}
	if request == "-" {
		request = "" // no request printed it
	}
	return logLine{when, request, line}
}

// follower reads a log file that grows and is now and then replaced.
type follower struct {
	path    string
	write   func(line string) error
	file    *os.File
	reader  *bufio.Reader
	partial string // a line whose end has not been written yet
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// begin writes the last lines of the log, all if last is negative: of the file
// that was replaced last, which the worker keeps, and of the one that grows.
func (f *follower) begin(last int) error {
	if err := f.open(); err != nil {
		return err
	}
	if last < 0 {
		return errors.Join(f.drainOlder(f.write), f.drain(f.write))
	}
	var kept []string
	keep := func(line string) error {
		kept = append(kept, line)
		if len(kept) > last {
			kept = kept[1:]
		}
		return nil
	}
	err := errors.Join(f.drainOlder(keep), f.drain(keep))
	for _, line := range kept {
		if err == nil {
			err = f.write(line)
		}
	}
	return err
}

// drainOlder passes on the lines of the file that was replaced, if there is
// one, and if it is not the open one because that has just happened.
func (f *follower) drainOlder(write func(string) error) error {
	older := &follower{path: f.path + api.LogOlder}
	err := older.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer older.close()
	if !f.sameFile(older.path) {
		return older.drain(write)
	}
	return nil
}

func (f *follower) open() error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	f.close()
	f.file, f.reader = file, bufio.NewReader(file)
	return nil
}

// drain passes on the complete lines that are there.
func (f *follower) drain(write func(string) error) error {
	for {
		text, err := f.reader.ReadString('\n')
		f.partial += text
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		line := f.partial[:len(f.partial)-1]
		f.partial = ""
		if err := write(line); err != nil {
			return err
		}
	}
}

// follow goes on until ctx ends. The file is looked at five times a second.
func (f *follower) follow(ctx context.Context) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if f.file != nil {
			if err := f.drain(f.write); err != nil {
				return err
			}
		}
		if f.replaced() {
			// What came between the last look and the replacement.
			if f.file != nil {
				if err := f.drain(f.write); err != nil {
					return err
				}
			}
			if err := f.open(); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("read log: %w", err)
			}
		}
	}
}

// replaced tells whether the path names another file than the open one.
func (f *follower) replaced() bool {
	if f.file == nil {
		return true
	}
	_, err := os.Stat(f.path)
	return err == nil && !f.sameFile(f.path)
}

// sameFile tells whether path names the open file.
func (f *follower) sameFile(path string) bool {
	named, err := os.Stat(path)
	if err != nil {
		return false
	}
	open, err := f.file.Stat()
	return err == nil && os.SameFile(named, open)
}
