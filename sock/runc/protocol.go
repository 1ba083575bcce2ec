package runc

import (
	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// Protocol is the version of the protocol. Both sides must have the same.
const Protocol = 1

// Operations of the protocol. Every one is answered, in any order.
const (
	OpOpen   = "open"   // assemble the base root; the first
	OpStart  = "start"  // create a container and run its process
	OpLimit  = "limit"  // set its limits
	OpPause  = "pause"  // stop everything in it
	OpResume = "resume" // let it go on
	OpKill   = "kill"   // end it; the event "exited" tells when
	OpDelete = "delete" // remove one that has exited
)

// EventExited says that a container's first process has ended.
const EventExited = "exited"

// Files that come with OpStart, in this order; then one detached mount for
// each of the lambda's packages; then the network namespace if one is lent.
const (
	FileControl = iota
	FileOutput
	FileListener
	FileScratch
	FileCode
	FixedFiles // how many
)

// MaxFiles is the most that one request carries.
const MaxFiles = 250

// Request is what the worker asks of the helper.
type Request struct {
	Seq    uint64         `json:"seq"` // of the answer
	Op     string         `json:"op"`
	ID     string         `json:"id,omitempty"` // container; also the name of its control groups
	Open   *Open          `json:"open,omitempty"`
	Start  *Start         `json:"start,omitempty"`
	Limits *cgroup.Limits `json:"limits,omitempty"`
}

// Open says what all containers have in common.
type Open struct {
	Protocol int    `json:"protocol"`
	Dir      string `json:"dir"`    // for state and mount points; the helper makes it
	Folder   string `json:"folder"` // of the control groups, in every hierarchy
	Base     string `json:"base"`
	Python   string `json:"python,omitempty"`
	Seccomp  bool   `json:"seccomp"`
	Users    Range  `json:"users"` // block of ids that sandboxes' users are from
}

// Range is user ids.
type Range struct {
	First uint32 `json:"first"`
	Count uint32 `json:"count"`
}

// Start says what one container is.
type Start struct {
	Hostname string   `json:"hostname"`
	UID      int      `json:"uid"`
	Network  string   `json:"network"`
	Lent     bool     `json:"lent"`     // a network namespace is the last file
	Packages []string `json:"packages"` // names below /packages
	Writable bool     `json:"writable"` // the code's directory
	TmpMB    int64    `json:"tmp_mb"`
	ShmMB    int64    `json:"shm_mb"`
}

// Answer is what the helper says: to a request, or, with an Event, by itself.
type Answer struct {
	Seq   uint64 `json:"seq,omitempty"`
	Error string `json:"error,omitempty"` // why it failed
	PID   int    `json:"pid,omitempty"`   // of the process, after OpStart

	Event string     `json:"event,omitempty"`
	ID    string     `json:"id,omitempty"`
	Exit  *sock.Exit `json:"exit,omitempty"`
}
