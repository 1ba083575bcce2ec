package sock

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"regexp"
)

// Networks that a sandbox can be given.
const (
	NetworkHost = "host" // the host's network namespace
	NetworkNone = "none" // a network namespace with nothing but loopback
	NetworkNAT  = "nat"  // a network namespace of its own whose traffic leaves under the host's address
)

// BaseHost is the base root made of the host's own /usr.
const BaseHost = "host"

// Config says how sandboxes are made.
type Config struct {
	Instance string // names the worker on its host: [a-z0-9.-]; two with one name must not run at once
	Dir      string // absolute directory, for the lock and as a mount point; made if missing, emptied by Clean
	Base     string // BaseHost, or the absolute path of a root directory
	Python   string // interpreter's path in the base root; "" looks in the usual places
	Runtime  fs.FS  // holds the package olrt at its top; shown to sandboxes as /runtime

	// Network is what sandboxes get that ask for none in particular: NetworkNone,
	// NetworkNAT or NetworkHost. Others take longer to make.
	Network string
	NAT     NAT
	// UserNS gives each sandbox, and the zygotes, user ids of their own in a
	// user namespace, where the kernel allows it.
	UserNS  bool
	Seccomp bool  // filter system calls
	TmpMB   int64 // size of /tmp, and of /host, MiB; their pages count against the sandbox's memory
	ShmMB   int64 // size of /dev/shm, MiB

	Zygote   bool     // keep a zygote to fork sandboxes from
	Pool     int      // children kept forked ahead; needs the zygote
	Preload  []string // modules that the zygote imports; those that the base lacks are skipped
	ZygoteMB int64    // memory reckoned for the zygote, MiB; not a limit
	ParkedMB int64    // memory reckoned for each child in the pool, MiB

	Tree       []TreeNode // zygotes that may be made below the root zygote; needs the zygote
	TreeMB     int64      // memory that all zygotes of the tree may have, MiB
	TreeCopies int        // of each zygote of the tree, made when one is not enough; 0 is one

	ReuseCgroups bool // hand out control groups again instead of making new ones
	Logger       *slog.Logger

	// Fault, for tests, may let a step of a start fail with an error of its
	// own; nil never does. It is called by several goroutines.
	Fault func(FaultPoint) error
}

// DefaultConfig returns the defaults for an instance that keeps its files in
// dir and runs runtime.
func DefaultConfig(instance, dir string, runtime fs.FS) Config {
	return Config{
		Instance: instance, Dir: dir, Base: BaseHost, Runtime: runtime,
		Network: NetworkHost, UserNS: true, Seccomp: true, TmpMB: 64, ShmMB: 16,
		Zygote: true, Pool: 8,
		Preload:  []string{"json", "os", "re", "io", "time", "datetime", "random", "math", "base64", "hashlib", "urllib.parse", "functools", "collections"},
		ZygoteMB: 64, ParkedMB: 4, ReuseCgroups: true,
		Logger: slog.New(slog.DiscardHandler),
	}
}

var instanceName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,60}$`)

// Validate reports the first impossible value.
func (c Config) Validate() error {
	switch {
	case !instanceName.MatchString(c.Instance):
		return fmt.Errorf("check sandbox settings: bad instance name %q", c.Instance)
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("check sandbox settings: directory %q is not absolute", c.Dir)
	case c.Base != BaseHost && !filepath.IsAbs(c.Base):
		return fmt.Errorf("check sandbox settings: base %q is neither %q nor an absolute path", c.Base, BaseHost)
	case !knownNetwork(c.Network):
		return fmt.Errorf("check sandbox settings: there is no network %q", c.Network)
	case c.TmpMB < 1 || c.ShmMB < 1:
		return errors.New("check sandbox settings: /tmp and /dev/shm need at least 1 MiB")
	case c.Pool < 0 || (c.Pool > 0 && !c.Zygote):
		return errors.New("check sandbox settings: a pool needs a zygote and cannot be negative")
	case c.Zygote && c.ZygoteMB < 16:
		return errors.New("check sandbox settings: the zygote needs at least 16 MiB")
	case len(c.Tree) > 0 && (!c.Zygote || c.TreeMB < 16):
		return errors.New("check sandbox settings: a tree of zygotes needs the zygote, and at least 16 MiB")
	case c.Runtime == nil || c.Logger == nil:
		return errors.New("check sandbox settings: runtime or logger is missing")
	}
	return nil
}

func knownNetwork(name string) bool {
	return name == NetworkNone || name == NetworkHost || name == NetworkNAT
}

// ReserveMB is the memory, in MiB, that the zygotes and the pool may take
// besides the sandboxes.
func (c Config) ReserveMB() int64 {
	if !c.Zygote {
		return 0
	}
	return c.ZygoteMB + c.TreeMB + int64(c.Pool)*c.ParkedMB
}
