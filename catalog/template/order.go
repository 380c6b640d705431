package template

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// head is what orders a document.
type head struct {
	Schema  string `json:"schema"`
	Package string `json:"package"`
	Name    string `json:"name"`
}

// rank is the place of a schema's documents within their package.
func (h *head) rank() int {
	switch h.Schema {
	case catalog.SchemaPackage:
		return 0
	case catalog.SchemaChannel:
		return 1
	case catalog.SchemaBundle:
		return 2
	case catalog.SchemaDeprecations:
		return 4
	}
	return 3
}

func (h *head) compare(o *head) int {
	if c := cmp.Compare(b2i(h.Package == ""), b2i(o.Package == "")); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(h.Package, o.Package), cmp.Compare(h.rank(), o.rank())); c != 0 {
		return c
	}
	switch h.rank() {
	case 3:
		return cmp.Compare(h.Schema, o.Schema)
	case 4:
		return 0
	}
	return cmp.Compare(h.Name, o.Name)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ordered sorts documents in the order of a catalog.
func ordered(docs []json.RawMessage) []json.RawMessage {
	type keyed struct {
		head
		json json.RawMessage
	}
	all := make([]keyed, len(docs))
	for i, d := range docs {
		all[i].json = d
		_ = json.Unmarshal(d, &all[i].head) // anything but a string sorts like ""
		if all[i].Schema == catalog.SchemaPackage {
			all[i].Package = all[i].Name
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return a.compare(&b.head) })
	for i := range all {
		docs[i] = all[i].json
	}
	return docs
}
