package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// text is the source of one document, with the values in it.
type text struct {
	doc    *catalog.Document
	raw    []byte
	loaded *doc.Document
	tree   *doc.Value
}

func textOf(d *catalog.Document) (*text, error) {
	loaded, err := doc.Reload(d)
	if err != nil {
		return nil, err
	}
	return &text{d, loaded.Raw, loaded, doc.Tree(loaded.JSON)}, nil
}

// offset returns where the value or key at an offset of the JSON text stands in
// the source.
func (t *text) offset(json int) int {
	if !t.doc.IsYAML() {
		return json
	}
	at, start := t.loaded.Position(json), t.doc.Start()
	line := 0
	for skip := at.Line - start.Line; skip > 0; skip-- {
		i := bytes.IndexByte(t.raw[line:], '\n')
		if i < 0 {
			return len(t.raw)
		}
		line += i + 1
	}
	column := at.Column
	if at.Line == start.Line {
		column -= start.Column - 1
	}
	for ; column > 1 && line < len(t.raw); column-- {
		_, n := utf8.DecodeRune(t.raw[line:])
		line += n
	}
	return line
}

// flow reports whether a value is written in flow style, as all JSON is, and
// where it ends then.
func (t *text) flow(v *doc.Value) (end int, ok bool) {
	at := t.offset(v.Offset)
	if !t.doc.IsYAML() {
		return at + len(v.Raw), true
	}
	if at >= len(t.raw) || t.raw[at] != '[' && t.raw[at] != '{' {
		return 0, false
	}
	depth := 0
	for i := at; i < len(t.raw); i++ {
		switch c := t.raw[i]; c {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"', '\'':
			for i++; i < len(t.raw) && t.raw[i] != c; i++ {
				if t.raw[i] == '\\' && c == '"' {
					i++
				}
			}
		case '#':
			if i > 0 && (t.raw[i-1] == ' ' || t.raw[i-1] == '\n') {
				for i < len(t.raw) && t.raw[i] != '\n' {
					i++
				}
			}
		}
	}
	return 0, false
}

// splice is a change of a source.
type splice struct {
	start, end int
	text       []byte
}

// element returns the splice that puts an element of a list, as JSON, in the
// place of the one at an index: nil removes it, and the index behind the last
// one adds. The list is a member of the document.
func (t *text) element(name string, i int, element []byte) (splice, error) {
	list := t.tree.Field(name)
	if list == nil || list.Kind != '[' || len(list.Members) == 0 {
		return t.emptyList(name, list, element)
	}
	if end, ok := t.flow(list); ok {
		return t.flowElement(list, end, i, element)
	}
	return t.blockElement(list, i, element)
}

// emptyList makes a list with one element, where it may have to be added.
func (t *text) emptyList(name string, list *doc.Value, element []byte) (splice, error) {
	if list != nil {
		if end, ok := t.flow(list); ok && list.Kind == '[' {
			at := t.offset(list.Offset)
			return splice{at, end, slices.Concat([]byte("["), element, []byte("]"))}, nil
		}
		return splice{}, fmt.Errorf("catalog: %s: %s is empty in a way that cannot be edited: write it as []", t.doc.Subject(), name)
	}
	last := &t.tree.Members[len(t.tree.Members)-1]
	if !t.doc.IsYAML() {
		at := last.Offset + len(last.Raw)
		return splice{at, at, fmt.Appendf(nil, `, "%s": [%s]`, name, element)}, nil
	}
	at, indent := t.blockEnd(len(t.raw)), t.indent(t.offset(t.tree.Members[0].KeyOffset))
	return splice{at, at, fmt.Appendf(nil, "%s%s: [%s]\n", indent, name, element)}, nil
}

// flowElement edits a list in brackets, which ends at end.
func (t *text) flowElement(list *doc.Value, end, i int, element []byte) (splice, error) {
	ends := make([]int, len(list.Members))
	for k := range list.Members {
		e := &list.Members[k]
		if stop, ok := t.flow(e); ok {
			ends[k] = stop
		} else {
			return splice{}, fmt.Errorf("catalog: %s: the list cannot be edited: write its elements in braces", t.doc.Subject())
		}
	}
	n := len(ends)
	start := func(k int) int { return t.offset(list.Members[k].Offset) }
	lead := t.raw[t.offset(list.Offset)+1 : start(0)] // white space before an element
	if !blankText(lead) {
		lead = nil
	}
	if bytes.IndexByte(lead, '\n') >= 0 {
		var out bytes.Buffer
		prefix := string(lead[bytes.LastIndexByte(lead, '\n')+1:])
		unit := "  "
		if outer := t.indent(t.offset(list.KeyOffset)); len(prefix) > len(outer)+4 {
			unit = prefix[:(len(prefix)-len(outer))/2]
		}
		if element != nil && json.Indent(&out, element, prefix, unit) == nil {
			element = out.Bytes()
		}
	} else if n > 1 {
		lead = []byte(" ")
	}
	switch {
	case element == nil && n == 1:
		return splice{start(0), end - 1, nil}, nil
	case element == nil && i == 0:
		return splice{start(0), start(1), nil}, nil
	case element == nil:
		return splice{ends[i-1], ends[i], nil}, nil
	case i < n:
		return splice{start(i), ends[i], element}, nil
	}
	return splice{ends[n-1], ends[n-1], slices.Concat([]byte(","), lead, element)}, nil
}

// blockElement edits a list of dashes.
func (t *text) blockElement(list *doc.Value, i int, element []byte) (splice, error) {
	dash := t.offset(list.Offset)
	if dash >= len(t.raw) || t.raw[dash] != '-' {
		return splice{}, fmt.Errorf("catalog: %s: the list cannot be edited: write it with dashes", t.doc.Subject())
	}
	indent := t.indent(dash)
	if strings.Trim(indent, " ") != "" {
		return splice{}, fmt.Errorf("catalog: %s: the list cannot be edited: begin it on a line of its own", t.doc.Subject())
	}
	lines := func(k int) int { // where the line of the dash of element k starts
		at := t.offset(list.Members[k].Offset)
		for at = bytes.LastIndexByte(t.raw[:at], '\n') + 1; at > 0 && !bytes.HasPrefix(t.raw[at:], []byte(indent+"-")); {
			at = bytes.LastIndexByte(t.raw[:at-1], '\n') + 1
		}
		return at
	}
	n := len(list.Members)
	end := len(t.raw)
	for k := range t.tree.Members {
		if at := t.offset(t.tree.Members[k].KeyOffset); at > dash {
			end = min(end, bytes.LastIndexByte(t.raw[:at], '\n')+1)
		}
	}
	end = t.blockEnd(end)
	if i < n-1 {
		end = t.blockEnd(lines(i + 1))
	}
	made, err := dashed(indent, element)
	if err != nil {
		return splice{}, err
	}
	if i == n {
		if end > 0 && t.raw[end-1] != '\n' {
			made = append([]byte("\n"), bytes.TrimSuffix(made, []byte("\n"))...)
		}
		return splice{end, end, made}, nil
	}
	if element == nil && n == 1 {
		return splice{t.offset(list.KeyOffset), end, fmt.Appendf(nil, "%s: []\n", list.Key)}, nil
	}
	if end > 0 && t.raw[end-1] != '\n' {
		made = bytes.TrimSuffix(made, []byte("\n"))
	}
	return splice{lines(i), end, made}, nil
}

// dashed writes an element of a block list.
func dashed(indent string, element []byte) ([]byte, error) {
	if element == nil {
		return nil, nil
	}
	yaml, err := catalog.YAML(element)
	if err != nil {
		return nil, err
	}
	var out []byte
	first := true
	for line := range bytes.Lines(yaml) {
		lead := indent + "  "
		if first {
			lead, first = indent+"- ", false
		}
		out = append(append(out, lead...), line...)
	}
	return out, nil
}

// blockEnd goes back from the end of a block over lines that are blank or
// comments: those belong to what follows.
func (t *text) blockEnd(end int) int {
	for end > 0 {
		start := bytes.LastIndexByte(t.raw[:end-1], '\n') + 1
		if line := bytes.TrimSpace(t.raw[start:end]); len(line) > 0 && line[0] != '#' {
			break
		}
		end = start
	}
	return end
}

// indent returns what stands before an offset in its line.
func (t *text) indent(at int) string {
	return string(t.raw[bytes.LastIndexByte(t.raw[:at], '\n')+1 : at])
}

func blankText(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }
