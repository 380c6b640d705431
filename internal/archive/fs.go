package archive

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// FS is the files of an archive. Its files can be read at any offset
// (io.ReaderAt and io.Seeker). It never changes and may be used by many
// goroutines.
type FS struct {
	store *store
	nodes map[string]*node
}

// node is a file or, without content, a directory.
type node struct {
	name    string // last element of the path
	content *content
	modTime time.Time
	list    []*node // of a directory, by name
}

func newFS(s *store) *FS {
	return &FS{store: s, nodes: map[string]*node{".": {name: "."}}}
}

// addDir adds a directory and those above it.
func (f *FS) addDir(name string, modTime time.Time) error {
	if n := f.nodes[name]; n != nil {
		if n.content != nil {
			return &Error{Entry: name, Message: "the archive has both a file and a directory of this name"}
		}
		if !modTime.IsZero() {
			n.modTime = modTime
		}
		return nil
	}
	if err := f.addDir(path.Dir(name), time.Time{}); err != nil {
		return err
	}
	f.nodes[name] = &node{name: path.Base(name), modTime: modTime}
	return nil
}

// addFile adds a file, in place of one of the same name.
func (f *FS) addFile(name string, c *content, modTime time.Time) error {
	if n := f.nodes[name]; n != nil && n.content == nil {
		return &Error{Entry: name, Message: "the archive has both a file and a directory of this name"}
	}
	if err := f.addDir(path.Dir(name), time.Time{}); err != nil {
		return err
	}
	f.nodes[name] = &node{name: path.Base(name), content: c, modTime: modTime}
	return nil
}

// seal builds the lists of directories.
func (f *FS) seal() {
	for name, n := range f.nodes {
		if name != "." {
			dir := f.nodes[path.Dir(name)]
			dir.list = append(dir.list, n)
		}
	}
	for _, n := range f.nodes {
		slices.SortFunc(n.list, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	}
}

func (f *FS) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if n := f.nodes[name]; n != nil {
		return n, nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// Open opens a file or directory.
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.content == nil {
		return &openDir{node: n, path: name}, nil
	}
	return &openFile{fsys: f, node: n}, nil
}

// Stat returns the FileInfo of a file or directory.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	n, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return info{n}, nil
}

// ReadDir returns the entries of a directory by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if n.content != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	return n.entries(), nil
}

var errNotDir = errors.New("not a directory")

func (n *node) entries() []fs.DirEntry {
	list := make([]fs.DirEntry, len(n.list))
	for i, c := range n.list {
		list[i] = info{c}
	}
	return list
}

// info is the FileInfo and DirEntry of a node.
type info struct{ node *node }

func (i info) Name() string               { return i.node.name }
func (i info) ModTime() time.Time         { return i.node.modTime }
func (i info) IsDir() bool                { return i.node.content == nil }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }

func (i info) Size() int64 {
	if i.IsDir() {
		return 0
	}
	return i.node.content.size
}

func (i info) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// openFile is a file being read.
type openFile struct {
	fsys   *FS
	node   *node
	offset int64
}

func (o *openFile) Stat() (fs.FileInfo, error) { return info{o.node}, nil }
func (o *openFile) Close() error               { return nil }

func (o *openFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := o.node.content.readAt(o.fsys.store, p, o.offset)
	o.offset += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (o *openFile) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, &fs.PathError{Op: "read", Path: o.node.name, Err: fs.ErrInvalid}
	}
	return o.node.content.readAt(o.fsys.store, p, offset)
}

func (o *openFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.node.content.size
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, &fs.PathError{Op: "seek", Path: o.node.name, Err: fs.ErrInvalid}
	}
	o.offset = offset
	return offset, nil
}

// openDir is a directory being listed.
type openDir struct {
	node *node
	path string
	next int
}

func (o *openDir) Stat() (fs.FileInfo, error) { return info{o.node}, nil }
func (o *openDir) Close() error               { return nil }

func (o *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.path, Err: errors.New("is a directory")}
}

func (o *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := o.node.entries()[o.next:]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 && len(rest) > n {
		rest = rest[:n]
	}
	o.next += len(rest)
	return rest, nil
}
