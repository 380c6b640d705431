package template

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/doc"
)

// check validates documents as a catalog. Faults are reported at the positions
// in the template that the documents come from.
func (x *expansion) check(docs []json.RawMessage, at []*doc.Value, what string) bool {
	var text bytes.Buffer
	for _, d := range docs {
		// One document per line: the line identifies the document.
		if err := json.Compact(&text, d); err != nil {
			x.err = err
			return false
		}
		text.WriteByte('\n')
	}
	_, report, err := check.Open(x.ctx, oneFile(text.Bytes()), nil)
	if err != nil {
		x.err = err
		return false
	}
	place := func(line int) catalog.Position {
		if line < 1 || line > len(at) {
			return x.src.Start
		}
		return x.src.Position(at[line-1].Offset)
	}
	for _, f := range report.Findings() {
		told := &catalog.Diagnostic{Pos: place(f.Pos.Line), Code: f.Code, Subject: f.Subject, Message: what + ": " + f.Message, Hint: f.Hint, Err: f}
		if f.Also.Line > 0 {
			told.Also = place(f.Also.Line)
		}
		x.found = append(x.found, told)
	}
	return report.Valid()
}

// oneFile is a file system that holds one file, catalog.json.
type oneFile []byte

const oneName = "catalog.json"

// Open implements [fs.FS].
func (o oneFile) Open(name string) (fs.File, error) {
	f := &openFile{Reader: bytes.NewReader(o), info: info{name: name, size: int64(len(o))}}
	switch name {
	case ".":
		f.info = info{name: ".", mode: fs.ModeDir}
	case oneName:
	default:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f, nil
}

// ReadDir implements [fs.ReadDirFS].
func (o oneFile) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(&info{name: oneName, size: int64(len(o))})}, nil
}

// openFile is the file of a oneFile, or its root.
type openFile struct {
	*bytes.Reader
	info info
}

func (f *openFile) Stat() (fs.FileInfo, error) { return &f.info, nil }
func (f *openFile) Close() error               { return nil }

// info describes a file of a oneFile.
type info struct {
	name string
	size int64
	mode fs.FileMode
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.size }
func (i *info) Mode() fs.FileMode  { return i.mode | 0o444 }
func (i *info) ModTime() time.Time { return time.Time{} }
func (i *info) IsDir() bool        { return i.mode.IsDir() }
func (i *info) Sys() any           { return nil }
