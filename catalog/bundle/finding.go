package bundle

import (
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// finding is a diagnostic and its effect on the bundle.
type finding struct {
	*catalog.Diagnostic
	lint  bool // advice, not a fault
	stops bool // the bundle cannot be rendered
	// unread is set when the finding keeps a file from being read.
	unread bool
}

// findings collects findings. The methods that add one return it, so that the
// caller can set more fields.
type findings []finding

func (fs *findings) fault(code catalog.Code, pos catalog.Position, subject, message, hint string) *finding {
	*fs = append(*fs, finding{Diagnostic: &catalog.Diagnostic{Pos: pos, Code: code, Subject: subject, Message: message, Hint: hint}})
	return &(*fs)[len(*fs)-1]
}

func (fs *findings) advice(code catalog.Code, pos catalog.Position, subject, message, hint string) {
	fs.fault(code, pos, subject, message, hint).lint = true
}

// sorted returns the findings for which keep is true, in order.
func (fs findings) sorted(keep func(finding) bool) catalog.Diagnostics {
	var out catalog.Diagnostics
	for _, f := range fs {
		if keep(f) {
			out = append(out, f.Diagnostic)
		}
	}
	return out.Sorted()
}

// mismatch adds a value of a wrong type.
func (fs *findings) mismatch(src *source, subject string, m *doc.Mismatch) *finding {
	return fs.fault(catalog.CodeType, src.position(m.Steps...), subject, m.Error(), m.Hint())
}
