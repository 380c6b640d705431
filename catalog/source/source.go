package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fairlead/fairlead/internal/archive"
)

// Options limit unpacking. The zero value, and nil, are the defaults.
type Options struct {
	// MaxSize is the largest total size of all unpacked files, in bytes. Default 8 GiB.
	MaxSize int64
	// MaxFiles is the largest number of files and directories in archives.
	// Default 262,144.
	MaxFiles int
	// TempDir is where image layers are unpacked. Default os.TempDir().
	TempDir string
	// Decoders read archives and layers that are not compressed with gzip. The standard
	// library has no zstd; examples/kubernetes/zstd has a decoder for it.
	Decoders []Decoder
}

// Decoder reads data compressed with one algorithm.
type Decoder struct {
	Magic string                                 // first bytes of such data, at most eight
	Open  func(io.Reader) (io.ReadCloser, error) // decompresses it
}

// MagicZstd is the first bytes of data compressed with Zstandard.
const MagicZstd = "\x28\xb5\x2f\xfd"

// limits are the limits in effect; image layers and archives have the same defaults.
func (o *Options) limits() archive.Options {
	return (&archive.Options{MaxSize: o.MaxSize, MaxFiles: o.MaxFiles}).WithDefaults()
}

// Source is an opened catalog. Close it when the catalog is no longer read.
type Source struct {
	fs.FS
	root *os.Root
	temp string // directory to remove, or ""
}

// Stat implements [fs.StatFS], so that no file has to be opened to find out what it is.
func (s *Source) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, name) }

// ReadDir implements [fs.ReadDirFS].
func (s *Source) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(s.FS, name) }

// Close removes what was unpacked. The file system must not be used after.
func (s *Source) Close() error {
	var errs []error
	if s.root != nil {
		errs = append(errs, s.root.Close())
	}
	if s.temp != "" {
		errs = append(errs, os.RemoveAll(s.temp))
	}
	return errors.Join(errs...)
}

// Open opens the catalog at path, which may be any of what the package comment lists.
// Errors name the path; an exceeded limit is a *fairlead.InputLimitError.
func Open(ctx context.Context, path string, opts *Options) (*Source, error) {
	return open(ctx, path, opts, &content{
		kind:     catalogImage,
		unpacked: func(files fs.FS) (*Source, error) { return &Source{FS: files}, nil },
		file: func(path string) (*Source, error) {
			return &Source{FS: &oneFile{os.DirFS(filepath.Dir(path)), filepath.Base(path)}}, nil
		},
	})
}

// content is what is opened, a catalog or a bundle.
type content struct {
	kind
	file     func(path string) (*Source, error) // what to do with a file that is not an archive
	unpacked func(files fs.FS) (*Source, error) // finds it among the files of an archive
}

// plain leaves out what the name of the catalog already says.
func plain(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && errors.Unwrap(err) == pe.Err {
		return pe.Err
	}
	return err
}

func open(ctx context.Context, path string, o *Options, what *content) (*Source, error) {
	if o == nil {
		o = &Options{}
	}
	s, err := what.open(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", what.name, path, plain(err))
	}
	return s, nil
}

func (c *content) open(ctx context.Context, path string, o *Options) (*Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		root, err := os.OpenRoot(path) // links do not lead out of it
		if err != nil {
			return nil, err
		}
		if !isLayout(root.FS()) {
			return &Source{FS: root.FS(), root: root}, nil
		}
		defer root.Close()
		return openLayout(root.FS(), o, c.kind)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is neither a directory nor a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, isArchive, err := decompress(f, o.Decoders)
	if err != nil {
		return nil, err
	}
	in := io.Reader(f)
	decoder, decoded := plain.(io.Closer)
	if decoded {
		defer decoder.Close()
		in = plain
	}
	if !isArchive {
		return c.file(path)
	}
	if !decoded { // archive supports gzip, and reports truncated archives
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	limits := o.limits()
	files, err := archive.Read(ctx, in, &limits)
	switch {
	case err != nil:
		return nil, err
	case isLayout(files):
		return openLayout(files, o, c.kind)
	}
	return c.unpacked(files)
}

// oneFile is a directory of which one file is visible.
type oneFile struct {
	dir  fs.FS
	name string
}

// Open opens the file, or a directory that holds nothing else.
func (o *oneFile) Open(name string) (fs.File, error) {
	if name != o.name && name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := o.dir.Open(name)
	if err != nil || name == o.name {
		return f, err
	}
	info, err := fs.Stat(o.dir, o.name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &oneFileDir{File: f, left: []fs.DirEntry{fs.FileInfoToDirEntry(info)}}, nil
}

// oneFileDir is an open directory that lists one file.
type oneFileDir struct {
	fs.File
	left []fs.DirEntry
}

// ReadDir lists the file, once.
func (d *oneFileDir) ReadDir(n int) ([]fs.DirEntry, error) {
	list := d.left
	d.left = nil
	if n > 0 && len(list) == 0 {
		return nil, io.EOF
	}
	return list, nil
}
