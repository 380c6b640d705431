package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/fairlead/fairlead"
)

// Options are the limits of an archive. The zero value, and nil, are the
// defaults.
type Options struct {
	// MaxSize is the largest sum of the sizes of all files in bytes. Default
	// 8 GiB.
	MaxSize int64
	// MaxMemory is the maximum memory for the compressed blocks, in bytes.
	// Default 1 GiB.
	MaxMemory int64
	// MaxFiles is the largest number of files and directories. Default
	// 262,144.
	MaxFiles int
}

// WithDefaults returns the limits in effect, with defaults for those that are
// not set.
func (o *Options) WithDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.MaxSize <= 0 {
		c.MaxSize = 8 << 30
	}
	if c.MaxMemory <= 0 {
		c.MaxMemory = 1 << 30
	}
	if c.MaxFiles <= 0 {
		c.MaxFiles = 1 << 18
	}
	return c
}

// Error is an archive that cannot be used.
type Error struct {
	Entry   string // name of the entry at fault, "" if it is the archive itself
	Message string // what is wrong, "" if Err says it all
	Err     error  // the underlying error, or nil
}

// Error names the entry and says what is wrong.
func (e *Error) Error() string {
	text := e.Message
	switch {
	case e.Err != nil && text == "":
		text = e.Err.Error()
	case e.Err != nil:
		text += ": " + e.Err.Error()
	}
	if e.Entry == "" {
		return "archive: " + text
	}
	return fmt.Sprintf("archive: entry %q: %s", e.Entry, text)
}

// Unwrap returns the underlying error, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Read reads a tar archive, compressed with gzip or not, up to its end, and
// returns the files in it. If several entries have the same name, the last one
// counts. Links to files in the archive are the files themselves; all other
// links, and devices and other special files, are errors. Errors are of type
// *Error, except for those of ctx and of r.
func Read(ctx context.Context, r io.Reader, opts *Options) (*FS, error) {
	in := &input{ctx: ctx, r: r}
	unpacked, err := decompress(in)
	if err != nil {
		return nil, in.explain("", err)
	}
	o := opts.WithDefaults()
	store := newStore(o.MaxMemory)
	a := &reader{opts: o, fsys: newFS(store)}
	entry, err := a.entries(tar.NewReader(unpacked), store)
	if err == nil {
		// What follows the end of the tar archive belongs to the gzip stream,
		// whose checksum is only compared at its end.
		var rest int64
		if rest, err = io.Copy(io.Discard, io.LimitReader(unpacked, 1<<20)); rest == 1<<20 {
			err = &Error{Message: "more than a megabyte follows the end of the archive"}
		}
	}
	if failed := store.close(); err == nil {
		err = failed
	}
	if err != nil {
		return nil, in.explain(entry, err)
	}
	if err := a.resolve(); err != nil {
		return nil, err
	}
	a.fsys.seal()
	return a.fsys, nil
}

// input remembers an error of the underlying reader, to distinguish it from
// faults in the data.
type input struct {
	ctx context.Context
	r   io.Reader
	n   int64
	err error
}

func (in *input) Read(p []byte) (int, error) {
	if in.ctx.Err() != nil {
		in.err = context.Cause(in.ctx)
		return 0, in.err
	}
	n, err := in.r.Read(p)
	in.n += int64(n)
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

// explain returns the error to report for an error of the layers above the
// input.
func (in *input) explain(entry string, err error) error {
	if in.err != nil {
		return in.err
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	if e := (*fairlead.InputLimitError)(nil); errors.As(err, &e) {
		return &Error{Entry: entry, Err: e}
	}
	message := "the archive is damaged"
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		message = fmt.Sprintf("the archive is cut off: it ends after %d bytes", in.n)
		err = io.ErrUnexpectedEOF
	}
	return &Error{Entry: entry, Message: message, Err: err}
}

// decompress recognizes gzip and tar by their first bytes.
func decompress(in *input) (io.Reader, error) {
	buffered := bufio.NewReaderSize(in, 64<<10)
	head, err := buffered.Peek(262)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzip.NewReader(buffered)
	case len(head) == 262 && bytes.HasPrefix(head[257:], []byte("ustar")):
		return buffered, nil
	case err != nil && err != io.EOF:
		return nil, err
	case len(head) == 0:
		return nil, &Error{Message: "the file is empty, not an archive"}
	case bytes.HasPrefix(head, []byte("PK")):
		return nil, &Error{Message: "the file is a zip archive, not tar; unpack it, or make a .tar.gz of it"}
	}
	return nil, &Error{Message: "the file is neither a tar archive nor compressed with gzip"}
}

// reader adds the entries of an archive to a file system.
type reader struct {
	opts  Options
	fsys  *FS
	size  int64
	entry int // number of entries read
	links []link
}

// link is an entry that refers to another.
type link struct{ name, target string }

// entries reads all entries. With an error it returns the name of the entry at
// which it occurred.
func (a *reader) entries(t *tar.Reader, store *store) (string, error) {
	name := ""
	for {
		h, err := t.Next()
		if err == io.EOF {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if name, err = clean(h.Name); err != nil {
			return h.Name, err
		}
		if a.entry++; max(a.entry, len(a.fsys.nodes)) > a.opts.MaxFiles {
			return name, &fairlead.InputLimitError{What: "number of files and directories", Max: int64(a.opts.MaxFiles)}
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = a.fsys.addDir(name, h.ModTime)
		case tar.TypeReg:
			if a.size += h.Size; a.size > a.opts.MaxSize {
				return name, &fairlead.InputLimitError{What: "size of all files in bytes", Max: a.opts.MaxSize}
			}
			f := &content{size: h.Size}
			if f.blocks, err = store.add(t, h.Size); err == nil {
				err = a.fsys.addFile(name, f, h.ModTime)
			}
		case tar.TypeSymlink, tar.TypeLink:
			err = a.link(name, h)
		default:
			err = &Error{Entry: name, Message: "the entry is a device or the like; only files, directories and links belong here"}
		}
		if err != nil {
			return name, err
		}
	}
}

// link records a link. Symbolic links are relative to their directory.
func (a *reader) link(name string, h *tar.Header) error {
	target := h.Linkname
	if h.Typeflag == tar.TypeSymlink {
		if path.IsAbs(target) {
			return &Error{Entry: name, Message: fmt.Sprintf("the link leads out of the archive, to %q", target)}
		}
		target = path.Join(path.Dir(name), target)
	}
	target, err := clean(target)
	if err != nil {
		return &Error{Entry: name, Message: fmt.Sprintf("the link leads out of the archive, to %q", h.Linkname)}
	}
	a.links = append(a.links, link{name, target})
	return nil
}

// resolve turns links into files. Links may lead to other links.
func (a *reader) resolve() error {
	for len(a.links) > 0 {
		var left []link
		for _, l := range a.links {
			n := a.fsys.nodes[l.target]
			switch {
			case n == nil:
				left = append(left, l)
			case n.content == nil:
				return &Error{Entry: l.name, Message: fmt.Sprintf("the link leads to the directory %q; only links to files are supported", l.target)}
			default:
				if err := a.fsys.addFile(l.name, n.content, n.modTime); err != nil {
					return err
				}
			}
		}
		if len(left) == len(a.links) {
			return &Error{Entry: left[0].name, Message: fmt.Sprintf("the link leads to %q, which is not in the archive", left[0].target)}
		}
		a.links = left
	}
	return nil
}

// maxName is the maximum length of a name, in bytes. A name creates as many
// directories as it has slashes, so its length must be limited.
const maxName = 1024

// clean returns the name of an entry in the form that fs.FS requires.
func clean(name string) (string, error) {
	if len(name) > maxName {
		return "", &fairlead.InputLimitError{What: "length of a name in bytes", Max: maxName}
	}
	cleaned := path.Clean(strings.TrimSuffix(name, "/"))
	if path.IsAbs(name) || !fs.ValidPath(cleaned) || strings.ContainsAny(cleaned, "\\\x00") {
		return "", &Error{Entry: name, Message: "the name leads out of the archive, or is not a path"}
	}
	return cleaned, nil
}
