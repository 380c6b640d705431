package doc

import (
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// YAML11 makes r read plain scalars of YAML documents as in YAML 1.1, which
// Kubernetes' tools follow: yes, on, y and similar words are truth values, keys
// that are numbers or truth values become the text of the value, and !!binary
// is decoded. [Document.Truths] lists the words.
//
// Otherwise such words are text, as in YAML 1.2.
func (r *Reader) YAML11() { r.yaml.old = true }

// truths are the words that are truth values in YAML 1.1 and text in 1.2.
var truths = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// oldTruth returns the truth value that a plain scalar is in YAML 1.1 only, and
// records its position.
func (w *yamlWriter) oldTruth(n *yaml.Node) (value, ok bool) {
	if w.old && n.Style == 0 && n.ShortTag() == "!!str" {
		if value, ok = truths[n.Value]; ok {
			w.words = append(w.words, word{n.Line, n.Column, n.Value})
		}
	}
	return value, ok
}

// oldBinary returns the content of a !!binary scalar.
func (w *yamlWriter) oldBinary(n *yaml.Node) (string, bool) {
	if !w.old || n.ShortTag() != "!!binary" {
		return "", false
	}
	data, err := base64.StdEncoding.DecodeString(n.Value)
	return string(data), err == nil && utf8.Valid(data)
}

// oldKey returns the JSON key that a scalar key stands for in YAML 1.1.
func (w *yamlWriter) oldKey(n *yaml.Node) (string, error) {
	if truth, ok := w.oldTruth(n); ok {
		return strconv.FormatBool(truth), nil
	}
	switch n.ShortTag() {
	case "!!null":
		return "", w.unsupported(n, "a key is null, and JSON has only text as keys", "put it in quotes if it is text")
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return strconv.FormatBool(b), nil
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return strconv.FormatInt(i, 10), nil
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil {
			return strconv.FormatFloat(f, 'g', -1, 32), nil
		}
	}
	return n.Value, nil
}

// word is a truth value of YAML 1.1 in a document. Line and column count from
// the start of the document.
type word struct {
	line, column int
	text         string
}

// Truth is a word that is a truth value in YAML 1.1 and text in YAML 1.2.
type Truth struct {
	Pos  Position // the position of the word
	Word string   // as written
}

// Truths returns the words of the document that YAML 1.1 and 1.2 read
// differently, in the order of the document, if it was read with
// [Reader.YAML11].
func (d *Document) Truths() []Truth {
	all := make([]Truth, 0, len(d.words))
	for _, w := range d.words {
		all = append(all, Truth{relative(d.Start, w.line, w.column), w.text})
	}
	slices.SortStableFunc(all, func(a, b Truth) int { return a.Pos.Compare(b.Pos) })
	return slices.Compact(all) // an alias repeats a word
}
