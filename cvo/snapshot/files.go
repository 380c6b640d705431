package snapshot

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// FS reads all files of a directory or an archive that may have objects: those that end in
// .yaml, .yml or .json, in the order of their paths. root is prefixed to their paths in
// positions. A file that cannot be opened or read is a gap, and so is a link that fsys does not
// follow: take the FS of an os.Root, which follows none that leads out of a directory.
func (r *Reader) FS(fsys fs.FS, root string) error {
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		shown := path.Join(root, name)
		switch {
		case err != nil && name == ".":
			return err
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			r.unread(shown, name, err)
			return nil
		case entry.IsDir():
			if strings.HasPrefix(entry.Name(), "hostedcluster-") || entry.Name() == ".git" {
				return fs.SkipDir // another cluster, and none
			}
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			if _, err := fs.Stat(fsys, name); err != nil {
				r.unread(shown, name, errors.New("it is a link that leads out of the directory, or nowhere, and is not followed"))
			}
			return nil // what it leads to is read where it is
		case !entry.Type().IsRegular():
			return nil
		}
		if err := r.entry(fsys, name, shown); err != nil {
			r.unread(shown, name, err)
		}
		return nil
	})
}

// entry reads a file of a directory.
func (r *Reader) entry(fsys fs.FS, name, shown string) error {
	base := path.Base(name)
	ext := path.Ext(base)
	stamp := base == "timestamp"
	if !stamp && !slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
		return nil
	}
	src, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	if stamp {
		text, err := io.ReadAll(io.LimitReader(src, 4096))
		r.clock.timestamp(string(text))
		return err
	}
	return r.stream(src, shown, hintOf(name))
}

// unread records a file that could not be read.
func (r *Reader) unread(shown, name string, err error) {
	r.start()
	var path *fs.PathError
	why := err.Error()
	if errors.As(err, &path) {
		why = path.Err.Error()
	}
	where := Position{File: shown}
	r.s.Warnings = append(r.s.Warnings, Warning{Where: where, Problem: why, Unread: true})
	if h := hintOf(name); h.kind != nil {
		s := h.kind.list(&r.s).scope()
		s.Gaps = append(s.Gaps, Gap{Namespace: h.namespace, Where: where, Why: why})
	}
}

// unwrapped prepares a stream: a list that stands alone becomes the items of an object, and
// the logs in the output of kubectl cluster-info dump become empty lines. added is how many
// columns were added to the first line.
func unwrapped(src io.Reader) (out io.Reader, added int, err error) {
	buffered := bufio.NewReaderSize(src, 64<<10)
	for n := 64; ; n *= 2 {
		start, err := buffered.Peek(min(n, 64<<10))
		text := bytes.TrimLeft(start, " \t\r\n\ufeff")
		switch {
		case len(text) == 0 && err == nil && n < 64<<10:
			continue
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, err
		case len(text) > 0 && text[0] == '[':
			const before = `{"items":`
			return io.MultiReader(strings.NewReader(before), buffered, strings.NewReader("}")), len(before), nil
		}
		return &unlogged{src: buffered}, 0, nil
	}
}

// unlogged leaves out the logs in the output of kubectl cluster-info dump.
type unlogged struct {
	src  *bufio.Reader
	in   bool   // in a log
	part bool   // in the middle of a line
	left []byte // of a line
}

var (
	logStart = []byte("==== START logs for container ")
	logEnd   = []byte("==== END logs for container ")
)

// Read implements io.Reader.
func (u *unlogged) Read(to []byte) (int, error) {
	for len(u.left) == 0 {
		line, err := u.src.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return 0, err
		}
		begins := !u.part
		u.part = line[len(line)-1] != '\n'
		switch {
		case begins && bytes.HasPrefix(line, logStart):
			u.in = true
			line = newline(line)
		case begins && u.in && bytes.HasPrefix(line, logEnd):
			u.in = false
			line = newline(line)
		case u.in:
			line = newline(line)
		}
		u.left = line
	}
	n := copy(to, u.left)
	u.left = u.left[n:]
	return n, nil
}

// newline returns the end of a line, so that lines keep their numbers.
func newline(line []byte) []byte {
	if len(line) > 0 && line[len(line)-1] == '\n' {
		return line[len(line)-1:]
	}
	return nil
}
