package catalog

import (
	"errors"
	"io"
	"iter"

	"github.com/fairlead/fairlead/internal/doc"
)

// Decode returns the documents of one stream, JSON or YAML or both, in order. Each is held in memory and stays
// valid: Raw, JSON and the other methods need no file.
//
// A faulty document is yielded as a nil Document with a [*Diagnostic], whose position has no file, and the stream
// continues after it. After a document larger than the limit, or an error of r, which is yielded unchanged, the
// stream ends. Only the limits on documents in opts apply. Decode holds one window in memory, as large as the
// largest document, and reads ahead of the document that it yields.
func Decode(r io.Reader, opts *Options) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		o := opts.withDefaults()
		x := newIndexer(&o)
		x.reader.Reset(r, "", 0)
		for n := 0; ; n++ {
			d, err := x.reader.Next()
			if err == io.EOF {
				return
			}
			x.file = &fileIndex{}
			if err == nil && n >= o.MaxDocuments {
				err = &LimitError{What: "number of documents in the stream (Options.MaxDocuments)", Max: int64(o.MaxDocuments)}
				yield(nil, err)
				return
			}
			if err == nil {
				x.document(d)
			} else if fault := (*doc.Error)(nil); errors.As(err, &fault) {
				x.file.faults = Diagnostics{contentFault(fault)}
			} else {
				yield(nil, err)
				return
			}
			for _, fault := range x.file.faults {
				if !yield(nil, fault) {
					return
				}
			}
			for _, document := range x.file.docs {
				document.src, document.offset = memory(append([]byte(nil), d.Raw...)), 0
				if !yield(document, nil) {
					return
				}
			}
		}
	}
}

// memory is the source of a document that is not in a file.
type memory []byte

var errOutside = errors.New("catalog: document lies outside of its source")

func (m memory) read(offset int64, length int) ([]byte, error) {
	if offset < 0 || length < 0 || offset+int64(length) > int64(len(m)) {
		return nil, errOutside
	}
	return append([]byte(nil), m[offset:offset+int64(length)]...), nil
}
