package check

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// Fix is a finding whose hint leaves no choice, as a change of a document:
// catalog/edit applies it.
type Fix struct {
	Finding  *catalog.Diagnostic // that it answers
	Document *catalog.Document   // that changes
	Path     []any               // to the value: keys of objects as strings, indexes of lists as ints
	Value    json.RawMessage     // the new value; nil removes it
}

// Fixes returns the findings whose hint can be applied, in the order of
// findings. Only trying a fix shows whether it helps: the nearest name is not
// always the one that was meant.
func (r *Report) Fixes() []Fix { return slices.Clone(r.fixes) }

// fix says how to fix the finding that was added last.
func (v *validator) fix(path []any, value any) {
	f := &v.findings[len(v.findings)-1]
	f.fix = &Fix{Finding: f.d, Document: f.doc, Path: path}
	if value != nil {
		f.fix.Value, _ = json.Marshal(value)
	}
}

func fixesOf(findings []finding) []Fix {
	var list []Fix
	for i := range findings {
		if f := findings[i].fix; f != nil {
			list = append(list, *f)
		}
	}
	slices.SortStableFunc(list, func(a, b Fix) int { return cmp.Compare(a.Finding.Pos.Compare(b.Finding.Pos), 0) })
	return list
}
