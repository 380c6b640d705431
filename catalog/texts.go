package catalog

import (
	"io"
	"io/fs"
)

// Texts reads the sources of documents one after the other, as [Document.Raw] does, and keeps
// the file of the last one open in between: many documents are in one file. The zero value is
// ready to use. It must not be used by several goroutines at once, and must be closed.
type Texts struct {
	of   *fileIndex
	file fs.File
}

// Raw returns the source of a document, byte for byte, as a copy that the caller owns.
func (t *Texts) Raw(d *Document) ([]byte, error) {
	f, ok := d.src.(*fileIndex)
	if !ok {
		return d.Raw()
	}
	if t.of != f {
		if err := t.Close(); err != nil {
			return nil, err
		}
		file, err := f.open()
		if err != nil {
			return nil, err
		}
		if _, ok := file.(io.ReaderAt); !ok { // it can only be read from its beginning
			defer file.Close()
			return f.part(file, d.offset, d.length)
		}
		t.of, t.file = f, file
	}
	return f.part(t.file, d.offset, d.length)
}

// Close closes the file that is open, if any.
func (t *Texts) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.of, t.file = nil, nil
	return err
}
