package archive

import "fmt"

// Limits bound what one archive may hold.
type Limits struct {
	Packed  int64 // bytes of the tar.gz
	Total   int64 // bytes of all files
	File    int64 // bytes of one file
	Entries int   // files and directories, those implied by paths included
	Ratio   int64 // bytes unpacked for one byte packed, beyond the first RatioFrom
	Depth   int   // elements of a path
	Path    int   // bytes of a path
}

// ratioFrom is how many bytes may be unpacked before the ratio matters: small
// archives of repetitive text compress well and do no harm.
const ratioFrom = 16 << 20

// DefaultLimits suit lambdas with their data: 512 MB in 10,000 files.
func DefaultLimits() Limits {
	return Limits{
		Packed: 256 << 20, Total: 512 << 20, File: 256 << 20,
		Entries: 10_000, Ratio: 200, Depth: 32, Path: 1024,
	}
}

// RefusedError says why an archive is not taken. It is the sender's fault.
type RefusedError struct {
	Entry  string // the entry, "" if the archive as a whole
	Reason string
	Err    error // cause, if there is one
}

// Error returns entry, reason and cause.
func (e *RefusedError) Error() string {
	s := "archive refused: "
	if e.Entry != "" {
		s += fmt.Sprintf("entry %q ", e.Entry)
	}
	s += e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

func refuse(entry, format string, args ...any) error {
	return &RefusedError{Entry: entry, Reason: fmt.Sprintf(format, args...)}
}
