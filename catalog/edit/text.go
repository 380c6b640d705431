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

// offset returns the offset in the source of the value or key at an offset of
// the JSON text.
func (t *text) offset(json int) int {
	if !t.doc.IsYAML() {
		return t.loaded.Source(json)
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

// lineStart returns the start of the line at an offset.
func (t *text) lineStart(at int) int { return bytes.LastIndexByte(t.raw[:at], '\n') + 1 }

// indent returns the text before an offset in its line.
func (t *text) indent(at int) string { return string(t.raw[t.lineStart(at):at]) }

// flow reports whether a list or object is written in flow style, with
// brackets, as all JSON is, and where it ends.
func (t *text) flow(v *doc.Value) (end int, ok bool) {
	at := t.offset(v.Offset)
	if !t.doc.IsYAML() {
		return t.offset(v.Offset+len(v.Raw)-1) + 1, true
	}
	if at >= len(t.raw) || t.raw[at] != v.Kind || v.Kind != '[' && v.Kind != '{' {
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
			if strings.IndexByte("[{,: \t\n", t.raw[i-1]) >= 0 { // otherwise it is inside a plain scalar
				i = quotedEnd(t.raw, i) - 1
			}
		case '#':
			if t.raw[i-1] == ' ' || t.raw[i-1] == '\n' {
				for i < len(t.raw) && t.raw[i] != '\n' {
					i++
				}
			}
		}
	}
	return 0, false
}

// quotedEnd returns the offset after the quoted string that starts at an
// offset.
func quotedEnd(raw []byte, at int) int {
	for i := at + 1; i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && raw[at] == '"':
			i++
		case raw[i] == raw[at] && raw[at] == '\'' && i+1 < len(raw) && raw[i+1] == '\'':
			i++
		case raw[i] == raw[at]:
			return i + 1
		}
	}
	return len(raw)
}

// within reports whether a value is inside brackets.
func (t *text) within(v *doc.Value) bool {
	if !t.doc.IsYAML() {
		return true
	}
	for at := t.tree; at != nil; {
		if _, ok := t.flow(at); ok && at != v {
			return true
		}
		i := slices.IndexFunc(at.Members, func(m doc.Value) bool { return m.Offset <= v.Offset && v.Offset < m.Offset+len(m.Raw) })
		if i < 0 || &at.Members[i] == v {
			return false
		}
		at = &at.Members[i]
	}
	return false
}

// extent returns the extent of a value in the source, if it is written in
// brackets, or as a string, number or word on one line.
func (t *text) extent(v *doc.Value) (start, end int, ok bool) {
	start = t.offset(v.Offset)
	if end, ok = t.flow(v); ok || v.Kind == '[' || v.Kind == '{' || start >= len(t.raw) {
		return start, end, ok
	}
	switch c := t.raw[start]; {
	case c == '"' || c == '\'':
		end = quotedEnd(t.raw, start)
	case strings.IndexByte("|>&*!%@`\n#", c) >= 0:
		return 0, 0, false
	default:
		inside := t.within(v)
		for end = start; end < len(t.raw) && t.raw[end] != '\n'; end++ {
			if c := t.raw[end]; inside && (c == ',' || c == ']' || c == '}') || c == '#' && t.raw[end-1] == ' ' {
				break
			}
		}
		end = start + len(bytes.TrimRight(t.raw[start:end], " \t\r"))
		if inside {
			return start, end, true
		}
		// A plain scalar may continue on the next line, if that is indented.
		var plain any
		if shown, err := doc.Load(append([]byte("v: "), append(slices.Clone(t.raw[start:end]), '\n')...), catalog.Position{Line: 1, Column: 1}, doc.YAML); err == nil {
			plain = string(doc.Tree(shown.JSON).Field("v").Raw)
		}
		return start, end, plain == string(v.Raw)
	}
	return start, end, bytes.IndexByte(t.raw[start:end], '\n') < 0
}

// splice is a change of a source.
type splice struct {
	start, end int
	text       []byte
}

func (t *text) cannot(v *doc.Value, what string) error {
	return fmt.Errorf("catalog: %s: %s: this cannot be edited as written: %s", t.loaded.Position(v.Offset), t.doc.Subject(), what)
}

// put returns the splice that puts a JSON value in place of a value.
func (t *text) put(v *doc.Value, value []byte) (splice, error) {
	start, end, ok := t.extent(v)
	if !ok {
		return splice{}, t.cannot(v, "write it on one line")
	}
	return splice{start, end, t.inline(value, t.within(v))}, nil
}

// inline returns a JSON value as written on a line of the source, inside
// brackets or not.
func (t *text) inline(value []byte, within bool) []byte {
	if !t.doc.IsYAML() || value[0] == '[' || value[0] == '{' {
		return value
	}
	yaml, err := catalog.YAML(slices.Concat([]byte(`{"v": `), value, []byte("}")))
	line := bytes.TrimSuffix(bytes.TrimPrefix(yaml, []byte("v: ")), []byte("\n"))
	if err != nil || bytes.IndexByte(line, '\n') >= 0 || within && bytes.ContainsAny(line, ",[]{}#?\"'") {
		return value
	}
	return line
}

// member returns the splice that sets a member of an object to a JSON value:
// nil removes it.
func (t *text) member(owner *doc.Value, key string, value []byte) (splice, error) {
	i := slices.IndexFunc(owner.Members, func(m doc.Value) bool { return strings.EqualFold(m.Key, key) })
	switch _, flow := t.flow(owner); {
	case i < 0 && value == nil:
		return splice{}, nil
	case len(owner.Members) == 0:
		return splice{}, t.cannot(owner, "write a member into it")
	case i < 0 && flow:
		return t.addFlowMember(owner, key, value)
	case i < 0:
		return t.addBlockMember(owner, key, value)
	case value != nil:
		if _, _, ok := t.extent(&owner.Members[i]); !ok {
			return t.putBlock(owner, i, value)
		}
		return t.put(&owner.Members[i], value)
	case flow:
		return t.dropFlowMember(owner, i)
	}
	return t.dropBlockMember(owner, i)
}

func (t *text) addFlowMember(owner *doc.Value, key string, value []byte) (splice, error) {
	last := &owner.Members[len(owner.Members)-1]
	_, at, ok := t.extent(last)
	if !ok {
		return splice{}, t.cannot(last, "write it on one line")
	}
	lead := t.raw[t.offset(owner.Offset)+1 : t.offset(owner.Members[0].KeyOffset)]
	if !blankText(lead) || bytes.IndexByte(lead, '\n') < 0 {
		lead = []byte(" ")
	}
	value = t.spread(t.inline(value, true), lead, owner)
	return splice{at, at, slices.Concat([]byte(","), lead, t.inline(doc.AppendText(nil, key), true), []byte(": "), value)}, nil
}

// spread writes a JSON value over several lines if its surroundings are.
func (t *text) spread(value, lead []byte, outer *doc.Value) []byte {
	if bytes.IndexByte(lead, '\n') < 0 || value[0] != '[' && value[0] != '{' {
		return value
	}
	prefix, unit := string(lead[bytes.LastIndexByte(lead, '\n')+1:]), "  "
	if around := t.indent(t.offset(outer.KeyOffset)); len(prefix) > len(around) && blankText([]byte(around)) {
		unit = prefix[len(around):]
	}
	var out bytes.Buffer
	if json.Indent(&out, value, prefix, unit) != nil {
		return value
	}
	return out.Bytes()
}

func (t *text) addBlockMember(owner *doc.Value, key string, value []byte) (splice, error) {
	yaml, err := catalog.YAML(slices.Concat([]byte("{"), doc.AppendText(nil, key), []byte(": "), value, []byte("}")))
	if err != nil {
		return splice{}, err
	}
	indent := strings.ReplaceAll(t.indent(t.offset(owner.Members[0].KeyOffset)), "-", " ")
	if strings.Trim(indent, " ") != "" {
		return splice{}, t.cannot(owner, "begin it on a line of its own")
	}
	return t.insertLines(t.after(owner), indented(indent, indent, yaml)), nil
}

// insertLines inserts lines at the start of a line, or after the last one.
func (t *text) insertLines(at int, lines []byte) splice {
	if at > 0 && t.raw[at-1] != '\n' {
		lines = append([]byte("\n"), bytes.TrimSuffix(lines, []byte("\n"))...)
	}
	return splice{at, at, lines}
}

// putBlock replaces a value that is written over several lines.
func (t *text) putBlock(owner *doc.Value, i int, value []byte) (splice, error) {
	m := &owner.Members[i]
	drop, err := t.dropBlockMember(owner, i)
	if err != nil || len(owner.Members) == 1 {
		return splice{}, t.cannot(m, "write it on one line")
	}
	add, err := t.addBlockMember(owner, m.Key, value)
	if err != nil {
		return splice{}, err
	}
	if i == 0 { // it follows a dash, where lines have no indent of their own
		return splice{}, t.cannot(m, "write it on one line")
	}
	drop.text = add.text
	return drop, nil
}

func (t *text) dropFlowMember(owner *doc.Value, i int) (splice, error) {
	m := owner.Members
	if i+1 < len(m) {
		return splice{t.offset(m[i].KeyOffset), t.offset(m[i+1].KeyOffset), nil}, nil
	}
	_, end, ok := t.extent(&m[i])
	start := t.offset(m[i].KeyOffset)
	if i > 0 {
		var before bool
		_, start, before = t.extent(&m[i-1])
		ok = ok && before
	}
	if !ok {
		return splice{}, t.cannot(&m[i], "write it on one line")
	}
	return splice{start, end, nil}, nil
}

func (t *text) dropBlockMember(owner *doc.Value, i int) (splice, error) {
	m := owner.Members
	key := t.offset(m[i].KeyOffset)
	if blankText([]byte(t.indent(key))) {
		return splice{t.lineStart(key), t.after(&m[i]), nil}, nil
	}
	if i+1 == len(m) { // the only member, after a dash
		return splice{}, t.cannot(&m[i], "begin it on a line of its own")
	}
	return splice{key, t.offset(m[i+1].KeyOffset), nil}, nil
}

// after returns the start of the line after a value in block style and the
// comments that belong to it.
func (t *text) after(v *doc.Value) int {
	next, behind := -1, v.Offset+len(v.Raw)
	var look func(at *doc.Value)
	look = func(at *doc.Value) {
		for i := range at.Members {
			m := &at.Members[i]
			if m.KeyOffset >= behind {
				if next < 0 || m.KeyOffset < next {
					next = m.KeyOffset
				}
				return
			}
			if m.Offset+len(m.Raw) > behind {
				look(m)
			}
		}
	}
	look(t.tree)
	if next < 0 {
		return t.blockEnd(len(t.raw))
	}
	return t.blockEnd(t.lineStart(t.offset(next)))
}

// element returns the splice that replaces the element of a list at an index
// by another, given as JSON: nil removes it, and the index after the last one
// appends.
func (t *text) element(list *doc.Value, i int, element []byte) (splice, error) {
	end, flow := t.flow(list)
	switch {
	case list.Kind != '[':
		return splice{}, t.cannot(list, "write a list")
	case len(list.Members) == 0 && flow:
		return splice{t.offset(list.Offset), end, slices.Concat([]byte("["), element, []byte("]"))}, nil
	case len(list.Members) == 0:
		return splice{}, t.cannot(list, "write it as []")
	case flow:
		return t.flowElement(list, end, i, element)
	}
	return t.blockElement(list, i, element)
}

// flowElement edits a list in flow style, which ends at end.
func (t *text) flowElement(list *doc.Value, end, i int, element []byte) (splice, error) {
	ends := make([]int, len(list.Members))
	for k := range list.Members {
		var ok bool
		if _, ends[k], ok = t.extent(&list.Members[k]); !ok {
			return splice{}, t.cannot(&list.Members[k], "write it on one line")
		}
	}
	n := len(ends)
	start := func(k int) int { return t.offset(list.Members[k].Offset) }
	lead := t.raw[t.offset(list.Offset)+1 : start(0)] // white space before an element
	if !blankText(lead) {
		lead = nil
	}
	if bytes.IndexByte(lead, '\n') < 0 && (n > 1 || element != nil && element[0] != '{') {
		lead = []byte(" ")
	}
	if element != nil {
		element = t.spread(t.inline(element, true), lead, list)
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

// blockElement edits a list in block style.
func (t *text) blockElement(list *doc.Value, i int, element []byte) (splice, error) {
	dash := t.offset(list.Offset)
	if dash >= len(t.raw) || t.raw[dash] != '-' {
		return splice{}, t.cannot(list, "write it with dashes")
	}
	indent := t.indent(dash)
	if strings.Trim(indent, " ") != "" {
		return splice{}, t.cannot(list, "begin it on a line of its own")
	}
	made, err := dashed(indent, element)
	n := len(list.Members)
	switch {
	case err != nil:
		return splice{}, err
	case i == n:
		return t.insertLines(t.after(list), made), nil
	case element == nil && n == 1:
		return splice{t.offset(list.KeyOffset), t.after(list), fmt.Appendf(nil, "%s: []\n", list.Key)}, nil
	}
	at := t.lineStart(t.offset(list.Members[i].Offset))
	for at > 0 && !bytes.HasPrefix(t.raw[at:], []byte(indent+"-")) {
		at = t.lineStart(at - 1)
	}
	end := t.after(&list.Members[i])
	if end > 0 && t.raw[end-1] != '\n' {
		made = bytes.TrimSuffix(made, []byte("\n"))
	}
	return splice{at, end, made}, nil
}

// dashed writes an element of a block list.
func dashed(indent string, element []byte) ([]byte, error) {
	if element == nil {
		return nil, nil
	}
	yaml, err := catalog.YAML(slices.Concat([]byte(`{"v":`), element, []byte("}")))
	if err != nil {
		return nil, err
	}
	if element[0] == '{' || element[0] == '[' {
		yaml, err = catalog.YAML(element)
	} else {
		yaml = bytes.TrimPrefix(yaml, []byte("v: "))
	}
	return indented(indent+"- ", indent+"  ", yaml), err
}

// indented prefixes each line.
func indented(first, other string, lines []byte) []byte {
	var out []byte
	for line := range bytes.Lines(lines) {
		out = append(append(out, first...), line...)
		first = other
	}
	return out
}

// blockEnd goes back from the end of a block over blank lines and comments,
// which belong to what follows.
func (t *text) blockEnd(end int) int {
	for end > 0 {
		start := t.lineStart(end - 1)
		if line := bytes.TrimSpace(t.raw[start:end]); len(line) > 0 && line[0] != '#' {
			break
		}
		end = start
	}
	return end
}

func blankText(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }
