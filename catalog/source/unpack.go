package source

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/archive"
)

// decompress inspects the beginning of r. It reports whether r is an archive,
// compressed or not, and returns it decompressed.
func decompress(r io.Reader, decoders []Decoder) (plain io.Reader, archive bool, err error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(8)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	i := slices.IndexFunc(decoders, func(d Decoder) bool { return d.Magic != "" && bytes.HasPrefix(head, []byte(d.Magic)) })
	var opened io.Closer
	switch {
	case i >= 0:
		z, err := decoders[i].Open(b)
		if err != nil {
			return nil, false, fmt.Errorf("its compressed data is malformed: %w", err)
		}
		b, opened = bufio.NewReaderSize(z, 64<<10), z
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, false, fmt.Errorf("its gzip data is malformed: %w", err)
		}
		b = bufio.NewReaderSize(z, 64<<10)
	case bytes.HasPrefix(head, []byte(MagicZstd)):
		return nil, false, errors.New("it is compressed with zstd, which the standard library does not read: decompress it (zstd -d), pack it with gzip, or give Options.Decoders one that reads it, such as that of examples/kubernetes/zstd")
	}
	// The magic of every tar since 1988 is at byte 257 of its first header.
	head, err = b.Peek(262)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	archive = len(head) == 262 && string(head[257:]) == "ustar"
	if opened != nil {
		return readCloser{b, opened}, archive, nil
	}
	return b, archive, nil
}

// readCloser is a reader and what to close after it.
type readCloser struct {
	io.Reader
	io.Closer
}

// unpacker writes the files of image layers below a temporary directory, each
// layer over those before. Anything outside the requested directory is
// skipped.
type unpacker struct {
	archive.Options
	temp  string
	root  *os.Root
	size  int64
	files int
	found bool // whether the requested directory exists
}

func newUnpacker(o *Options) (*unpacker, error) {
	temp, err := os.MkdirTemp(o.TempDir, "catalog-")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(temp)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp))
	}
	return &unpacker{Options: o.limits(), temp: temp, root: root}, nil
}

func (u *unpacker) source() *Source { return &Source{FS: u.root.FS(), root: u.root, temp: u.temp} }

func (u *unpacker) discard() error { return u.source().Close() }

// Names in image layers that remove what earlier layers have.
const (
	whiteout       = ".wh."
	whiteoutOpaque = ".wh..wh..opq"
)

// unpack writes the regular files of a tar stream that are below dir, with
// names relative to it.
func (u *unpacker) unpack(r io.Reader, dir string) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the archive is malformed: %w", err)
		}
		if clean := path.Clean("/" + h.Name)[1:]; h.Typeflag == tar.TypeDir && clean == dir || dir == "." {
			u.found = true // perhaps empty
		}
		name, ok := below(dir, h.Name)
		if !ok {
			continue
		}
		u.found = true
		if u.files++; u.files > u.MaxFiles {
			return &fairlead.InputLimitError{What: "number of files in the archive", Max: int64(u.MaxFiles)}
		}
		if err := u.entry(t, h, name); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

// below returns the name of a member relative to dir. It rejects what is not
// below dir, which includes any path that leads out of the archive.
func below(dir, name string) (string, bool) {
	name = path.Clean("/" + name)[1:]
	if name == "" || dir == "." {
		return name, name != ""
	}
	return strings.CutPrefix(name, dir+"/")
}

func (u *unpacker) entry(r io.Reader, h *tar.Header, name string) error {
	parent, base := path.Dir(name), path.Base(name)
	switch {
	case base == whiteoutOpaque:
		return u.clear(parent)
	case strings.HasPrefix(base, whiteout):
		return u.root.RemoveAll(path.Join(parent, strings.TrimPrefix(base, whiteout)))
	case h.Typeflag == tar.TypeDir:
		return u.root.MkdirAll(name, 0o755)
	case h.Typeflag == tar.TypeSymlink:
		return u.link(name, func() error { return u.root.Symlink(h.Linkname, name) })
	case h.Typeflag != tar.TypeReg:
		return nil // devices and the like are not part of a catalog
	}
	return u.link(name, func() error { return u.write(r, name) })
}

// link makes room for name and lets create make it.
func (u *unpacker) link(name string, create func() error) error {
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := u.root.RemoveAll(name); err != nil {
		return err
	}
	return create()
}

func (u *unpacker) write(r io.Reader, name string) error {
	f, err := u.root.Create(name)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, u.MaxSize-u.size+1))
	u.size += n
	if err == nil && u.size > u.MaxSize {
		err = &fairlead.InputLimitError{What: "size of the unpacked files in bytes", Max: u.MaxSize}
	}
	return errors.Join(err, f.Close())
}

// clear removes everything in a directory.
func (u *unpacker) clear(dir string) error {
	entries, err := fs.ReadDir(u.root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		err = errors.Join(err, u.root.RemoveAll(path.Join(dir, e.Name())))
	}
	return err
}
