package shape

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// Mismatch is a part of a value that does not have its shape.
type Mismatch struct {
	At     *doc.Value // the part
	path   []string   // names of the fields that lead to it
	want   *Shape
	within string // the innermost type around it, "" if there is none
	text   string // a fault other than a wrong type
}

// Mismatch returns the part of a value that opm rejects, or nil if it accepts
// the value. opm writes objects again with their members sorted before it
// decodes them, and reports the first fault.
func (s *Shape) Mismatch(v *doc.Value) *Mismatch {
	return s.find(v, &Mismatch{})
}

func (s *Shape) find(v *doc.Value, m *Mismatch) *Mismatch {
	here := &Mismatch{At: v, path: m.path, want: s, within: m.within}
	if s.Kind == Any || v.Kind == 'n' {
		return nil
	}
	if v.Kind != s.Kind.Begins() && !(s.Kind == Bool && v.Kind == 'f') {
		return here
	}
	switch s.Kind {
	case Base64:
		text, _ := v.Text()
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			here.text = err.Error()
			return here
		}
	case Int:
		bits := 64
		if s.Name == "int32" {
			bits = 32
		}
		if _, err := strconv.ParseInt(plainNumber(v.Raw), 10, bits); err != nil {
			return here
		}
	case List:
		for i := range v.Members {
			if bad := s.Elem.find(&v.Members[i], m); bad != nil {
				return bad
			}
		}
	case Map, Object:
		return s.findMember(v, m)
	}
	return nil
}

func (s *Shape) findMember(v *doc.Value, m *Mismatch) *Mismatch {
	members := make([]*doc.Value, len(v.Members))
	for i := range v.Members {
		members[i] = &v.Members[i]
	}
	slices.SortFunc(members, func(a, b *doc.Value) int { return cmp.Compare(a.Key, b.Key) })
	for _, c := range members {
		elem, inner := s.Elem, m
		if s.Kind == Object {
			field := s.Field([]byte(c.Key))
			_, within, _ := strings.Cut(s.Name, ".")
			elem, inner = field.Shape, &Mismatch{path: append(slices.Clone(m.path), cmp.Or(field.Name, c.Key)), within: within}
		}
		if bad := elem.find(c, inner); bad != nil {
			return bad
		}
	}
	return nil
}

// plainNumber returns a number as opm writes it: the shortest form of its
// float64.
func plainNumber(raw []byte) string {
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return string(raw)
	}
	if n != 0 && (n < 1e-6 && n > -1e-6 || n >= 1e21 || n <= -1e21) {
		return strconv.FormatFloat(n, 'e', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// goName returns the name of opm's Go type for this form.
func (s *Shape) goName() string {
	switch s.Kind {
	case List:
		return "[]" + s.Elem.goName()
	case Map:
		return "map[string]" + s.Elem.goName()
	case Text:
		return cmp.Or(s.Name, "string")
	}
	return s.Name
}

// OPM returns the message of the decoder that opm uses.
func (m *Mismatch) OPM() string {
	if m.text != "" {
		return m.text
	}
	got := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "bool", 'f': "bool"}[m.At.Kind]
	if got == "" {
		got = "number"
		if m.want.Kind == Int {
			got += " " + plainNumber(m.At.Raw)
		}
	}
	if m.within == "" {
		return fmt.Sprintf("json: cannot unmarshal %s into Go value of type %s", got, m.want.goName())
	}
	return fmt.Sprintf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", got, m.within, strings.Join(m.path, "."), m.want.goName())
}

// String returns our message.
func (m *Mismatch) String() string {
	what := strings.Join(m.path, ".")
	if m.text != "" {
		return what + ": " + m.text
	}
	want := KindName(m.want.Kind.Begins())
	if m.want.Kind == Int {
		want = "a whole number"
	}
	return strings.TrimSpace(fmt.Sprintf("%s is %s and must be %s", cmp.Or(what, "it"), KindName(m.At.Kind), want))
}

// Hint says how to fix it.
func (m *Mismatch) Hint() string {
	switch {
	case m.text != "":
		return "encode the manifest again, in base64"
	case m.want.Kind == Text && m.At.Kind != '{' && m.At.Kind != '[':
		return "write " + strconv.Quote(string(m.At.Raw)) + ", in quotes"
	}
	return "correct the value"
}
