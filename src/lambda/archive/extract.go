package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Extract unpacks a tar.gz into dir, which must not exist and whose parent
// must. It returns a *RefusedError if the archive is at fault and leaves
// nothing behind after any error.
func Extract(r io.Reader, dir string, lim Limits) (err error) {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), TempPrefix+"*")
	if err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	x := &extraction{root: root, lim: lim, seen: map[string]bool{}}
	err = errors.Join(x.run(r), root.Close())
	if err != nil {
		return err
	}
	// MkdirTemp makes 0700; lambdas run as another user.
	if err = os.Chmod(tmp, 0o755); err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	if err = os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	return nil
}

// TempPrefix begins the names of directories that Extract works in. Left by
// a killed process, they can be removed.
const TempPrefix = ".extract-"

// extraction is one archive being unpacked.
type extraction struct {
	root     *os.Root
	lim      Limits
	packed   countingReader
	unpacked int64 // bytes that came out of gzip
	total    int64 // bytes of files
	entries  int
	seen     map[string]bool // path -> is a directory
}

func (x *extraction) run(r io.Reader) error {
	x.packed = countingReader{r: r, left: x.lim.Packed}
	gz, err := gzip.NewReader(&x.packed)
	if err != nil {
		return x.broken(err)
	}
	defer gz.Close()
	tr := tar.NewReader(&ratioReader{r: gz, x: x})
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return x.drain(gz)
		}
		if err != nil {
			return x.broken(err)
		}
		if err := x.entry(h, tr); err != nil {
			return err
		}
	}
}

// drain reads what follows the end of the tar, so that a wrong checksum or
// a bomb behind it is seen.
func (x *extraction) drain(gz io.Reader) error {
	if _, err := io.Copy(io.Discard, &ratioReader{r: gz, x: x}); err != nil {
		return x.broken(err)
	}
	return nil
}

func (x *extraction) broken(err error) error {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused
	}
	return &RefusedError{Reason: "is not a readable tar.gz", Err: err}
}

func (x *extraction) entry(h *tar.Header, r io.Reader) error {
	name, err := x.clean(h.Name)
	if err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return x.mkdir(h.Name, name)
	case tar.TypeReg:
		return x.file(h, name, r)
	case tar.TypeXGlobalHeader: // git archive writes one; it holds comments
		return nil
	}
	return refuse(h.Name, "is neither a file nor a directory (type %q): links, devices and fifos are not taken", h.Typeflag)
}

// clean checks a name and returns it without "./" and trailing slash; "."
// for the top directory.
func (x *extraction) clean(name string) (string, error) {
	if len(name) > x.lim.Path {
		return "", refuse(name[:64]+"...", "has a path of %d bytes, more than %d", len(name), x.lim.Path)
	}
	if name == "" || strings.ContainsAny(name, "\x00\\") {
		return "", refuse(name, "has an impossible name")
	}
	if path.IsAbs(name) {
		return "", refuse(name, "is an absolute path")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", refuse(name, "leaves the archive's directory")
		}
		if len(part) > 255 {
			return "", refuse(name[:64]+"...", "has a name longer than 255 bytes")
		}
	}
	c := path.Clean(name)
	if n := strings.Count(c, "/") + 1; n > x.lim.Depth {
		return "", refuse(name, "is %d directories deep, more than %d", n, x.lim.Depth)
	}
	return c, nil
}

// mkdir makes a directory and those above it, counting each.
func (x *extraction) mkdir(entry, name string) error {
	if name == "." {
		return nil
	}
	isDir, ok := x.seen[name]
	if ok && !isDir {
		return refuse(entry, "is both a file and a directory")
	}
	if ok {
		return nil
	}
	if err := x.mkdir(entry, path.Dir(name)); err != nil {
		return err
	}
	if err := x.count(entry); err != nil {
		return err
	}
	x.seen[name] = true
	if err := x.root.Mkdir(name, 0o755); err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	return nil
}

func (x *extraction) count(entry string) error {
	if x.entries++; x.entries > x.lim.Entries {
		return refuse(entry, "is one too many: at most %d files and directories are taken", x.lim.Entries)
	}
	return nil
}

func (x *extraction) file(h *tar.Header, name string, r io.Reader) error {
	if name == "." || strings.HasSuffix(h.Name, "/") {
		return refuse(h.Name, "is a file with the name of a directory")
	}
	if _, ok := x.seen[name]; ok {
		return refuse(h.Name, "appears twice")
	}
	if h.Size < 0 || h.Size > x.lim.File {
		return refuse(h.Name, "has %d bytes, more than %d", h.Size, x.lim.File)
	}
	if x.total += h.Size; x.total > x.lim.Total {
		return refuse(h.Name, "brings the sum of sizes over %d bytes", x.lim.Total)
	}
	if err := x.mkdir(h.Name, path.Dir(name)); err != nil {
		return err
	}
	if err := x.count(h.Name); err != nil {
		return err
	}
	x.seen[name] = false
	return x.write(name, fileMode(h.Mode), r)
}

// fileMode keeps only whether the file can be executed.
func fileMode(mode int64) fs.FileMode {
	if mode&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

func (x *extraction) write(name string, mode fs.FileMode, r io.Reader) error {
	f, err := x.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	_, copyErr := io.Copy(f, readErrors{r, x})
	// The process' umask must not decide whether the lambda can be read.
	if err := errors.Join(copyErr, f.Chmod(mode), f.Close()); err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	return nil
}
