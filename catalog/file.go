package catalog

import (
	"fmt"
	"io"
	"io/fs"
	"time"
)

// fileIndex is what is known of one file. It never changes once it is built,
// and is shared by catalogs that reopen each other.
type fileIndex struct {
	fsys    fs.FS
	path    string
	size    int64
	modTime time.Time
	docs    []*Document // by place
	faults  Diagnostics // by place
	broken  []Broken    // what the faults leave out
}

// unchanged reports whether g, listed later, can be taken for the same file
// with the same content. Without a modification time nothing can.
func (f *fileIndex) unchanged(g *fileIndex) bool {
	return f.path == g.path && f.size == g.size && f.modTime.Equal(g.modTime) && !g.modTime.IsZero() && !f.unread()
}

// unread reports whether the file could not be read: next time it may be.
func (f *fileIndex) unread() bool {
	for _, d := range f.faults {
		if d.Code == CodeRead {
			return true
		}
	}
	return false
}

// read returns a part of the file, which must be as it was when it was
// indexed.
func (f *fileIndex) read(offset int64, length int) ([]byte, error) {
	file, err := f.fsys.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != f.size || !info.ModTime().Equal(f.modTime) {
		return nil, &Diagnostic{
			Pos: Position{File: f.path}, Code: CodeChanged,
			Message: "the file has changed since the catalog was opened", Hint: "reopen the catalog",
		}
	}
	data := make([]byte, length)
	if err := readAt(file, data, offset); err != nil {
		return nil, fmt.Errorf("%s: reading %d bytes at %d: %w", f.path, length, offset, err)
	}
	return data, nil
}

// readAt fills data from an offset of a file in the cheapest way the file has.
func readAt(file fs.File, data []byte, offset int64) error {
	if r, ok := file.(io.ReaderAt); ok {
		n, err := r.ReadAt(data, offset)
		if n == len(data) {
			return nil
		}
		return err
	}
	if s, ok := file.(io.Seeker); ok {
		if _, err := s.Seek(offset, io.SeekStart); err != nil {
			return err
		}
	} else if _, err := io.CopyN(io.Discard, file, offset); err != nil {
		return err
	}
	_, err := io.ReadFull(file, data)
	return err
}
