package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/regular"
	"github.com/fairlead/fairlead/internal/doc"
)

// source is one document of a file: its content and the position of each part.
type source struct {
	doc  *doc.Document
	tree *doc.Value
}

// at returns the position of a value of the document's tree.
func (s *source) at(v *doc.Value) catalog.Position {
	if v == nil {
		return s.doc.Start
	}
	return s.doc.Position(v.Offset)
}

// position returns the position of the value at a path of keys and indices, or
// of the last value on the way to it.
func (s *source) position(path ...any) catalog.Position { return s.at(s.tree.At(path...)) }

// raw returns a part of the document as the reference passes it on: verbatim
// from a JSON document, in canonical form from a YAML document.
func (s *source) raw(v *doc.Value) []byte {
	if v == nil {
		return nil
	}
	if s.doc.Format == doc.JSON {
		return bytes.Clone(v.Raw)
	}
	return doc.AppendCanonical(nil, v, doc.NumbersOfYAML)
}

// file is what a file holds.
type file struct {
	name  string
	docs  []*source
	fault *catalog.Diagnostic // why the rest of it cannot be read
	// hollow is set when the file begins with a document of only comments and
	// blank lines: tools take that as the first document.
	hollow bool
}

// first returns the first document, or nil.
func (f *file) first() *source {
	if len(f.docs) == 0 || f.hollow {
		return nil
	}
	return f.docs[0]
}

// parse reads all documents of a file. A fault ends it.
func (r *reader) parse(name string, e fs.DirEntry) (*file, error) {
	f := &file{name: name}
	data, err := r.readFile(name, e)
	if err != nil {
		var limit *catalog.LimitError
		if errors.As(err, &limit) {
			return nil, err
		}
		f.fault = &catalog.Diagnostic{
			Pos: catalog.Position{File: name}, Code: catalog.CodeRead, Err: err,
			Message: "the file cannot be read: " + reason(err), Hint: "make it a regular, readable file",
		}
		return f, nil
	}
	info := fileInfo{name: name, data: data}
	r.docs.Reset(bytes.NewReader(data), name, int64(len(data)))
	for {
		d, err := r.docs.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			f.fault = catalog.Diagnose(err)
			break
		}
		d = d.Clone()
		if len(f.docs) == 0 {
			f.hollow = hollow(data[:d.Offset])
		}
		f.docs = append(f.docs, &source{doc: d, tree: doc.Tree(d.JSON)})
		info.truths = append(info.truths, d.Truths()...)
		for _, again := range d.Repeats() {
			r.found.advice(catalog.CodeDuplicateKey, again.Pos, "", fmt.Sprintf("the key %q is already in this object; this one counts", again.Key), "keep one of the two")
		}
	}
	if first := f.first(); first != nil {
		text, _ := first.tree.Get("name").Text()
		info.chart = text != ""
	}
	r.b.files = append(r.b.files, info)
	return f, nil
}

// reason returns the message of a file system's error without the path, which
// the position already names.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// hollow reports whether tools that split files at "---" lines take the text
// before the first real document as a document: whether such a line follows
// any other line.
func hollow(before []byte) bool {
	lines := 0
	for line := range strings.Lines(string(before)) {
		rest, marker := strings.CutPrefix(line, "---")
		if rest = strings.TrimSpace(rest); marker && (rest == "" || rest[0] == '#') && lines > 0 {
			return true
		}
		lines++
	}
	return false
}

// readFile reads a file within the limits of the directory.
func (r *reader) readFile(name string, e fs.DirEntry) ([]byte, error) {
	info, err := regular.Info(r.fsys, name, e)
	if err != nil {
		return nil, err
	}
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	left := r.maxBytes - r.bytes
	var data bytes.Buffer
	data.Grow(int(min(max(info.Size(), 0), left)) + bytes.MinRead) // the reported size; the real one may differ
	if _, err := data.ReadFrom(io.LimitReader(f, left+1)); err != nil {
		return nil, err
	}
	if int64(data.Len()) > left {
		return nil, r.limit(name, "size of the bundle directory in bytes", r.maxBytes)
	}
	r.bytes += int64(data.Len())
	return data.Bytes(), nil
}

// limit makes the error of a directory that exceeds a limit.
func (r *reader) limit(name, what string, limit int64) error {
	err := &catalog.LimitError{What: what, Max: limit}
	return &catalog.Diagnostic{
		Pos: catalog.Position{File: name}, Code: catalog.CodeLimit, Err: err,
		Message: err.Error(), Hint: "raise the limit in Options if the bundle is meant to be this large",
	}
}
