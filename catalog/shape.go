package catalog

import (
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
)

// step leads from a value to one in it: to a field, or to an element if the
// name is empty.
type step struct {
	name  string
	index int
}

// check checks the value of n, at x.path, against want. Null is the empty
// value of any type.
func (x *indexer) check(n doc.Node, want *shape.Shape) {
	kind := want.Kind.Begins()
	if kind == 0 || n.Kind == 'n' {
		return
	}
	if n.Kind != kind {
		hint := ""
		if kind == '"' && n.Kind == '0' {
			hint = "write " + strconv.Quote(string(x.doc.Value(n))) + ", in quotes"
		} else if kind == '"' && (n.Kind == 't' || n.Kind == 'f') {
			hint = "put it in quotes if it is text"
		}
		x.fault(CodeType, n, x.place()+" is "+shape.KindName(n.Kind)+" and must be "+shape.KindName(kind), hint)
		return
	}
	if want.Kind == shape.Base64 && !shape.IsBase64(x.doc.Value(n)) {
		x.fault(CodeType, n, x.place()+" is not base64", "encode the data in base64")
		return
	}
	i := 0
	for c := range x.doc.Children(n) {
		if want.Elem != nil {
			x.checkIn(step{index: i}, c, want.Elem)
		} else if f := want.Field(x.doc.Key(c)); f.Name != "" {
			x.checkIn(step{name: f.Name}, c, f.Shape)
		}
		i++
	}
}

// checkIn checks a value one step further.
func (x *indexer) checkIn(s step, n doc.Node, want *shape.Shape) {
	x.path = append(x.path, s)
	x.check(n, want)
	x.path = x.path[:len(x.path)-1]
}

// place is x.path as shown in messages: entries[1].name.
func (x *indexer) place() string {
	var b strings.Builder
	for i, s := range x.path {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}
