package doc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// mark is the place in the YAML source that the JSON text from off on comes
// from. Line and column count from 1, from the start of the document.
type mark struct{ off, line, column int }

// placeOf returns the position of the JSON byte at offset, in a document that
// starts at p.
func placeOf(p Position, marks []mark, offset int) Position {
	i := sort.Search(len(marks), func(i int) bool { return marks[i].off > offset })
	if i == 0 {
		return p
	}
	return relative(p, marks[i-1].line, marks[i-1].column)
}

// relative returns the position at a line and column of a document that starts
// at p.
func relative(p Position, line, column int) Position {
	if line <= 1 {
		p.Column += max(column-1, 0)
		return p
	}
	p.Line += line - 1
	p.Column = column
	return p
}

// yamlWriter converts YAML documents to JSON text. Its buffers are reused for
// the next document.
type yamlWriter struct {
	out    []byte
	marks  []mark
	start  Position
	limits Limits
	count  int                 // values written
	open   map[*yaml.Node]bool // anchors being written out
	again  int                 // values written, and mappings merged, for aliases
	most   int                 // the limit of that: see allowance
	old    bool                // YAML 1.1
	words  []word              // truth values of YAML 1.1 only
	last   bool                // of duplicate keys the last one counts
	nulls  bool                // a document that is null is skipped
	twice  []word              // keys that occur again after their first occurrence
	block  blockReader
}

// convert returns raw as JSON text, which the next call overwrites, and which
// has passed the scan. If raw contains no document, the text is nil.
func (w *yamlWriter) convert(raw []byte, start Position, limits Limits, scan *scanner) ([]byte, []mark, error) {
	if n := len(raw); n > 0 && raw[n-1] != '\n' {
		raw = append(raw[:n:n], '\n') // the last line is read as if it ended, as in Kubernetes; it makes a difference in block scalars
	}
	w.reset(start, limits)
	if w.block.read(w, raw) {
		if _, ok := scan.scan(w.out, 0, true); ok {
			return w.out, w.marks, nil
		}
	}
	w.reset(start, limits)
	if err := w.text(raw); err != nil {
		return nil, nil, err
	}
	root, err := w.parse(raw)
	if err != nil || root == nil || w.nulls && root.ShortTag() == "!!null" {
		return nil, nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, nil, &Error{
			Pos: w.pos(root), Kind: NotObject, Message: "the document is " + kindName(root) + ", not an object",
			Hint: "write fields, such as name: value",
		}
	}
	w.most = allowance(len(raw))
	if err := w.value(root, 1); err != nil {
		return nil, nil, err
	}
	if _, ok := scan.scan(w.out, 0, true); !ok {
		return nil, nil, scan.error(start, 0, limits)
	}
	return w.out, w.marks, nil
}

func (w *yamlWriter) reset(start Position, limits Limits) {
	w.out, w.marks, w.words, w.twice = w.out[:0], w.marks[:0], w.words[:0], w.twice[:0]
	w.start, w.limits, w.count, w.open, w.again, w.most = start, limits, 0, nil, 0, 0
}

// allowance is how many values aliases may repeat in a document of a size: in proportion to it, so
// that a short text cannot become a large document. People repeat a few fields a few times.
func allowance(size int) int { return 10_000 + size }

// repeat counts a value that is written, or a mapping that is merged, for an alias. It counts long
// texts as several values.
func (w *yamlWriter) repeat(n *yaml.Node) error {
	if w.again += 1 + len(n.Value)/64; w.again > w.most {
		err := limitError(w.pos(n), AliasLimit, w.most)
		err.Hint = "write the values out"
		return err
	}
	return nil
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "an object"
	}
	return "a single value"
}

// text checks for what the parser would reject without a position, and for what
// would cost too much to parse: each value needs one of a few characters.
func (w *yamlWriter) text(raw []byte) *Error {
	values := 0
	for _, c := range []byte("\n-:,[{?") {
		values += bytes.Count(raw, []byte{c})
	}
	if values > w.limits.Nodes && w.indicators(raw) > w.limits.Nodes {
		return limitError(w.start, NodesLimit, w.limits.Nodes)
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return &Error{
				Pos: after(w.start, raw[:i]), Kind: Encoding,
				Message: "the byte " + quoteByte(raw[i:]) + " is not UTF-8", Hint: "save the file as UTF-8",
			}
		}
		if r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			return &Error{
				Pos: after(w.start, raw[:i]), Kind: Encoding,
				Message: "the control character " + quoteByte(raw[i:]) + " does not belong in a text",
				Hint:    "write it as an escape in double quotes",
			}
		}
		i += n
	}
	return nil
}

// indicators counts more precisely than text: an indicator within a line counts
// only before white space or another indicator, as in YAML, or in flow style.
func (w *yamlWriter) indicators(raw []byte) int {
	n := 0
	for i, c := range raw {
		switch c {
		case '\n', ',', '[', '{':
			n++
		case '-', ':', '?':
			if i+1 == len(raw) || bytes.IndexByte([]byte(" \t\r\n,[]{}"), raw[i+1]) >= 0 {
				n++
			}
		}
	}
	return n
}

// parse returns the root node of the one document in raw, or nil.
func (w *yamlWriter) parse(raw []byte) (root *yaml.Node, err error) {
	defer func() {
		// The library turns its own panics into errors; any other is a defect
		// in it, and bad input must not make that a crash.
		if p := recover(); p != nil {
			root, err = nil, &Error{Pos: w.start, Kind: Syntax, Message: fmt.Sprintf("the YAML parser failed: %v", p)}
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var node, rest yaml.Node
	err = decoder.Decode(&node)
	if err == nil {
		if err = decoder.Decode(&rest); err == nil {
			return nil, &Error{Pos: w.pos(&rest), Kind: Syntax, Message: "a second document starts here without --- before it"}
		}
		if err == io.EOF {
			return node.Content[0], nil
		}
	}
	if err == io.EOF {
		return nil, nil
	}
	return nil, w.syntax(raw, err)
}

func (w *yamlWriter) pos(n *yaml.Node) Position { return relative(w.start, n.Line, n.Column) }

func (w *yamlWriter) unsupported(n *yaml.Node, message, hint string) *Error {
	return &Error{Pos: w.pos(n), Kind: Unsupported, Message: message, Hint: hint}
}

// value writes n. depth counts the containers around it, including itself.
func (w *yamlWriter) value(n *yaml.Node, depth int) error {
	w.count++
	switch {
	case w.count > w.limits.Nodes:
		return limitError(w.pos(n), NodesLimit, w.limits.Nodes)
	case len(w.out) > w.limits.Size:
		return limitError(w.pos(n), SizeLimit, w.limits.Size)
	case depth > w.limits.Depth+1 || depth > w.limits.Depth && n.Kind != yaml.ScalarNode:
		return limitError(w.pos(n), DepthLimit, w.limits.Depth)
	}
	if len(w.open) > 0 {
		if err := w.repeat(n); err != nil {
			return err
		}
	}
	w.marks = append(w.marks, mark{len(w.out), n.Line, n.Column})
	switch n.Kind {
	case yaml.AliasNode:
		return w.alias(n, depth)
	case yaml.SequenceNode:
		w.out = append(w.out, '[')
		for i, c := range n.Content {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.value(c, depth+1); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
		return nil
	case yaml.MappingNode:
		return w.mapping(n, depth)
	}
	return w.scalar(n)
}

func (w *yamlWriter) alias(n *yaml.Node, depth int) error {
	if w.open[n.Alias] {
		return w.unsupported(n, "the alias *"+n.Value+" is inside the value that it refers to", "write the value out")
	}
	if w.open == nil {
		w.open = make(map[*yaml.Node]bool)
	}
	w.open[n.Alias] = true
	defer delete(w.open, n.Alias)
	return w.value(n.Alias, depth)
}

func (w *yamlWriter) mapping(n *yaml.Node, depth int) error {
	w.out = append(w.out, '{')
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	last := w.lastKeys(n)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			merges = append(merges, n.Content[i+1])
			continue
		}
		key, err := w.key(k)
		if err != nil {
			return err
		}
		if first := seen[key]; first != nil && !w.last {
			return &Error{
				Pos: w.pos(k), Kind: DuplicateKey, Hint: "keep one of the two",
				Message: fmt.Sprintf("the key %q is already in this object, in line %d", key, w.pos(first).Line),
			}
		}
		seen[key] = k
		if j := last[key]; j > i {
			w.twice = append(w.twice, word{n.Content[j].Line, n.Content[j].Column, key})
			continue
		}
		if err := w.member(k, key, n.Content[i+1], depth); err != nil {
			return err
		}
	}
	for _, m := range merges {
		if err := w.merge(m, seen, depth); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *yamlWriter) member(k *yaml.Node, key string, v *yaml.Node, depth int) error {
	if w.out[len(w.out)-1] != '{' {
		w.out = append(w.out, ',')
	}
	w.marks = append(w.marks, mark{len(w.out), k.Line, k.Column})
	w.out = append(appendText(w.out, key), ':')
	return w.value(v, depth+1)
}

// merge writes the members that a "<<" key adds: those of a mapping, or of a
// list of mappings, whose keys do not exist yet.
func (w *yamlWriter) merge(n *yaml.Node, seen map[string]*yaml.Node, depth int) error {
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			if err := w.merge(c, seen, depth); err != nil {
				return err
			}
		}
		return nil
	}
	source := n
	if n.Kind == yaml.AliasNode {
		source = n.Alias
	}
	if source.Kind != yaml.MappingNode {
		return w.unsupported(n, "<< takes a mapping or a list of mappings", "refer to one, as in <<: *name")
	}
	if w.open[source] {
		return w.unsupported(n, "<< refers to the mapping that it is in", "delete it")
	}
	if err := w.repeat(n); err != nil {
		return err
	}
	if w.open == nil {
		w.open = make(map[*yaml.Node]bool)
	}
	w.open[source] = true
	defer delete(w.open, source)
	var deeper []*yaml.Node
	for i := 0; i+1 < len(source.Content); i += 2 {
		k, v := source.Content[i], source.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			deeper = append(deeper, v)
			continue
		}
		key, err := w.key(k)
		if err != nil {
			return err
		}
		if seen[key] != nil {
			continue
		}
		seen[key] = k
		if err := w.member(k, key, v, depth); err != nil {
			return err
		}
	}
	for _, m := range deeper {
		if err := w.merge(m, seen, depth); err != nil {
			return err
		}
	}
	return nil
}

// key returns the JSON key that a YAML key stands for.
func (w *yamlWriter) key(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", w.unsupported(n, "a key is "+kindName(n)+", and JSON has only text as keys", "put it in quotes if it is text")
	}
	if w.old {
		return w.oldKey(n)
	}
	return n.Value, nil
}

// scalar writes a scalar. Numbers keep their digits if those are valid in JSON.
func (w *yamlWriter) scalar(n *yaml.Node) error {
	if truth, ok := w.oldTruth(n); ok {
		w.out = strconv.AppendBool(w.out, truth)
		return nil
	}
	if text, ok := w.oldBinary(n); ok {
		w.out = appendText(w.out, text)
		return nil
	}
	switch n.ShortTag() {
	case "!!null":
		w.out = append(w.out, "null"...)
		return nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return w.unsupported(n, fmt.Sprintf("%q is not a boolean", n.Value), "write true or false")
		}
		w.out = strconv.AppendBool(w.out, b)
		return nil
	case "!!int", "!!float":
		return w.number(n)
	}
	w.out = appendText(w.out, n.Value)
	return nil
}

func (w *yamlWriter) number(n *yaml.Node) error {
	if end, ok := numberEnd([]byte(n.Value), 0); ok && end == len(n.Value) {
		w.out = append(w.out, n.Value...)
		return nil
	}
	plain := strings.TrimPrefix(strings.ReplaceAll(n.Value, "_", ""), "+")
	if i, ok := new(big.Int).SetString(plain, 0); ok {
		w.out = i.Append(w.out, 10)
		return nil
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || f-f != 0 {
		return w.unsupported(n, fmt.Sprintf("the number %s has no JSON form", n.Value), "write it in quotes if it is text")
	}
	w.out = strconv.AppendFloat(w.out, f, 'g', -1, 64)
	return nil
}

const hexDigits = "0123456789abcdef"

// appendText appends s as a JSON string, escaping only what must be.
func appendText(out []byte, s string) []byte {
	out = append(out, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\t':
			out = append(out, '\\', 't')
		case '\r':
			out = append(out, '\\', 'r')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(out, s[from:]...), '"')
}
