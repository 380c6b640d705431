package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// MaxSize is the size of the largest text that Parse accepts, in bytes.
const MaxSize = 64 << 20

// A ParseError says what is wrong with the text of a lock, and where.
type ParseError struct {
	File    string // as passed to Parse
	Line    int    // from 1; 0 if the error concerns the whole text
	Column  int    // from 1, in characters; 0 if Line is
	Message string // what is wrong, and what to do
}

// Error returns file:line:column and the message.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s: %s", doc.Position{File: e.File, Line: e.Line, Column: e.Column}, e.Message)
}

func failAt(p doc.Position, format string, args ...any) error {
	return &ParseError{File: p.File, Line: p.Line, Column: p.Column, Message: fmt.Sprintf(format, args...)}
}

// Parse parses a lock. It accepts exactly what Format writes. The error is a
// *ParseError, which says where the text is malformed, of another version, edited
// manually, or not in canonical form. file is the name used in errors.
func Parse(file string, text []byte) (*Lock, error) {
	if len(text) > MaxSize {
		return nil, failAt(doc.Position{File: file}, "the text has %d bytes, more than the limit of %d", len(text), MaxSize)
	}
	tree, d, err := read(file, text)
	if err != nil {
		return nil, err
	}
	at := func(v *doc.Value) doc.Position {
		if v == nil {
			return doc.Position{File: file, Line: 1, Column: 1}
		}
		return d.Position(v.KeyOffset)
	}
	version := tree.Get("lockVersion")
	if version == nil || string(version.Raw) != fmt.Sprint(FormatVersion) {
		what := "there is no lockVersion"
		if version != nil {
			what = fmt.Sprintf("lockVersion is %s", words.Clip(string(version.Raw), 40))
		}
		return nil, failAt(at(version), "%s; this program reads version %d: write the lock again, or use a program that knows its version", what, FormatVersion)
	}
	l := &Lock{}
	if faults := doc.Decode(tree, l, doc.Strict|doc.Exact); len(faults) > 0 {
		text := faults[0].Error()
		if hint := faults[0].Hint(); hint != "" {
			text += "; " + hint
		}
		return nil, failAt(at(faults[0].Value), "%s", text)
	}
	l.fill()
	for _, list := range l.names() {
		seen := make(map[string]bool, len(list.names))
		for i, name := range list.names {
			if seen[name] {
				return nil, failAt(at(&tree.Get(list.path...).Members[i]), "%s is listed twice in %s: write the lock again", words.Clip(name, 40), strings.Join(list.path, "."))
			}
			seen[name] = true
		}
	}
	if l.Inputs.Digest != l.inputDigest() {
		return nil, failAt(at(tree.Get("inputs", "digest")), "the digest does not match the inputs: they were edited manually; write the lock again")
	}
	if err := canonical(file, text, l.Format()); err != nil {
		return nil, err
	}
	return l, nil
}

// read parses the text: one JSON object, and nothing else.
func read(file string, text []byte) (*doc.Value, *doc.Document, error) {
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) > 0 && start[0] != '{' {
		return nil, nil, failAt(doc.Position{File: file, Line: 1, Column: 1}, "not a lock: it does not begin with {, as a JSON object does")
	}
	r := doc.NewReader(bytes.NewReader(text), file, doc.Limits{Size: MaxSize, Depth: 16})
	d, err := r.Next()
	var fault *doc.Error
	switch {
	case err == io.EOF:
		return nil, nil, failAt(doc.Position{File: file}, "the file is empty: write the lock again")
	case errors.As(err, &fault):
		return nil, nil, failAt(fault.Pos, "%s", fault.Message)
	case err != nil:
		return nil, nil, failAt(doc.Position{File: file}, "%v", err)
	case d.Format != doc.JSON: // not reached: the text begins with {
		return nil, nil, failAt(d.Start, "not a lock: it is not written in JSON")
	}
	d = d.Clone()
	if more, err := r.Next(); err != io.EOF {
		at := doc.Position{File: file}
		if err == nil {
			at = more.Start
		} else if errors.As(err, &fault) {
			at = fault.Pos
		}
		return nil, nil, failAt(at, "something follows the lock: remove it")
	}
	return doc.Tree(d.JSON), d, nil
}

// nameList is a list whose elements have unique names.
type nameList struct {
	path  []string // the keys that lead to it
	names []string
}

func (l *Lock) names() []nameList {
	lists := []nameList{
		{path: []string{"inputs", "catalogs"}}, {path: []string{"inputs", "subscriptions"}}, {path: []string{"inputs", "installed"}},
		{path: []string{"answer", "chosen"}}, {path: []string{"answer", "served"}},
	}
	for _, c := range l.Inputs.Catalogs {
		lists[0].names = append(lists[0].names, c.key())
	}
	for _, s := range l.Inputs.Subscriptions {
		lists[1].names = append(lists[1].names, s.Name)
	}
	for _, i := range l.Inputs.Installed {
		lists[2].names = append(lists[2].names, i.Name)
	}
	for _, c := range l.Answer.Chosen {
		lists[3].names = append(lists[3].names, c.Package)
	}
	for _, s := range l.Answer.Served {
		lists[4].names = append(lists[4].names, s.Subscription)
	}
	return lists
}

// fill replaces absent lists with empty ones, as Format writes them.
func (l *Lock) fill() {
	l.Inputs.Catalogs = orEmpty(l.Inputs.Catalogs)
	l.Inputs.Subscriptions = orEmpty(l.Inputs.Subscriptions)
	l.Inputs.Installed = orEmpty(l.Inputs.Installed)
	l.Answer.Chosen = orEmpty(l.Answer.Chosen)
	l.Answer.Served = orEmpty(l.Answer.Served)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return slices.Clip(list)
}

// canonical returns an error for the first line in which a text differs from what
// Format writes.
func canonical(file string, text, want []byte) error {
	if bytes.Equal(text, want) {
		return nil
	}
	line, got := 1, bytes.Split(text, []byte("\n"))
	for i, w := range bytes.Split(want, []byte("\n")) {
		if i >= len(got) || !bytes.Equal(got[i], w) {
			break
		}
		line = i + 2
	}
	line = min(line, len(got))
	return failAt(doc.Position{File: file, Line: line, Column: 1}, "this line is not in the form that locks are written in (order, spaces, line ends); write the lock again")
}
