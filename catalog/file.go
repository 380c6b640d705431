package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// fileIndex is what is known about one file. It never changes once it is built,
// and is shared by catalogs that reopen each other.
type fileIndex struct {
	fsys     fs.FS
	path     string
	size     int64
	modTime  time.Time
	docs     []*Document // by place
	faults   Diagnostics // by place
	warnings Diagnostics // likewise, at most maxFaults
	broken   []Broken    // documents left out because of faults
}

// unchanged reports whether g, listed later, can be assumed to be the same file
// with the same content. Without a modification time it cannot.
func (f *fileIndex) unchanged(g *fileIndex) bool {
	return f.path == g.path && f.size == g.size && f.modTime.Equal(g.modTime) && !g.modTime.IsZero() && !f.unread()
}

// unread reports whether the file could not be read; it may be readable next
// time.
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
	file, err := f.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return f.part(file, offset, length)
}

// open opens the file, which must be as it was when it was indexed.
func (f *fileIndex) open() (fs.File, error) {
	file, err := f.fsys.Open(f.path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && (info.Size() != f.size || !info.ModTime().Equal(f.modTime)) {
		err = f.changed("since the catalog was opened")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// part reads a part of the open file.
func (f *fileIndex) part(file fs.File, offset int64, length int) ([]byte, error) {
	data := make([]byte, length)
	if err := readAt(file, data, offset); err != nil {
		return nil, fmt.Errorf("%s: reading %d bytes at %d: %w", f.path, length, offset, err)
	}
	return data, nil
}

// changed is the finding that the file has changed.
func (f *fileIndex) changed(when string) *Diagnostic {
	return &Diagnostic{Pos: Position{File: f.path}, Code: CodeChanged, Message: "the file has changed " + when, Hint: "reopen the catalog"}
}

// unsized is how much is read of a file that reports size 0, as those of /proc
// do.
const unsized = 16 << 20

// measured reads a file up to the size that it has when it is opened, so that
// reading a growing file ends, and until a context ends.
type measured struct {
	ctx  context.Context
	file fs.File
	info fs.FileInfo // nil if the file has no Stat result
	left int64
	grew bool
}

// measure begins to read f, and records the open file's info: it may not be the
// file that was listed.
func measure(ctx context.Context, file fs.File, f *fileIndex) *measured {
	m := &measured{ctx: ctx, file: file}
	if info, err := file.Stat(); err == nil {
		m.info, f.size, f.modTime = info, info.Size(), info.ModTime()
	}
	if m.left = f.size; m.left == 0 {
		m.left = unsized
	}
	return m
}

// Read implements [io.Reader].
func (m *measured) Read(p []byte) (int, error) {
	switch {
	case m.ctx.Err() != nil:
		return 0, context.Cause(m.ctx)
	case m.left == 0:
		var one [1]byte
		n, err := m.file.Read(one[:])
		if m.grew = n > 0; m.grew {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	if int64(len(p)) > m.left {
		p = p[:m.left]
	}
	n, err := m.file.Read(p)
	m.left -= int64(n)
	return n, err
}

// same reports whether the file is still as it was when it was opened.
func (m *measured) same() bool {
	if m.grew || m.info == nil {
		return !m.grew
	}
	now, err := m.file.Stat()
	return err != nil || now.Size() == m.info.Size() && now.ModTime().Equal(m.info.ModTime())
}

// readAt fills data from an offset of a file in the cheapest way that the file
// supports.
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
