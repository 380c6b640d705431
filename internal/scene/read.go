package scene

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/doc"
)

// File is a file that was read.
type File struct {
	Title   string   // metadata.name
	Spec    Spec     // the spec of the Scenario
	Objects []Object // in the order of the file

	doc  *doc.Document
	tree *doc.Value
	err  error
}

// Object is an object with its position.
type Object struct {
	At   doc.Position    // of its start
	JSON json.RawMessage // the object
}

// Longest is the longest duration that a file may contain.
const Longest = 10 * 365 * 24 * time.Hour

// Read reads a file for a player that plays the named fields of spec: "events" means
// all fields of events, "events.delete" only that one. A file with other fields is
// rejected, and so is one with objects, unless "objects" is played.
func Read(src io.Reader, name, player string, plays ...string) (*File, error) {
	r := doc.NewReader(src, name, doc.Limits{})
	var f *File
	var objects []Object
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		v := doc.Tree(d.JSON)
		if v == nil || v.Kind != '{' {
			return nil, fmt.Errorf("%s: an object is expected: a Scenario, a Machine, or what else a cluster holds", d.Start)
		}
		if kind, _ := v.Get("kind").Text(); kind != "Scenario" {
			objects = append(objects, Object{d.Start, v.JSON()})
			continue
		}
		if f != nil {
			return nil, fmt.Errorf("%s: there is a Scenario before this one; a file has one", d.Start)
		}
		if f, err = decode(d.Clone(), player, plays); err != nil {
			return nil, err
		}
	}
	if f == nil {
		return nil, fmt.Errorf("%s: there is no Scenario; add a document of kind Scenario that says what happens", name)
	}
	if f.Objects = objects; len(objects) > 0 && !slices.Contains(plays, "objects") {
		return nil, fmt.Errorf("%s: %s plays no objects; take them out", objects[0].At, player)
	}
	return f, nil
}

// decode reads the document of kind Scenario.
func decode(d *doc.Document, player string, plays []string) (*File, error) {
	f := &File{doc: d, tree: doc.Tree(d.JSON)}
	var form struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec Spec `json:"spec"`
	}
	if found := doc.Decode(f.tree, &form, doc.Strict); len(found) > 0 {
		m := found[0]
		err := fmt.Errorf("%s: %w", d.Position(m.Value.KeyOffset), m)
		if hint := m.Hint(); hint != "" {
			err = fmt.Errorf("%w; %s", err, hint)
		}
		return nil, err
	}
	f.Title, f.Spec = form.Metadata.Name, form.Spec
	check := func(plays []string, path ...any) {
		at := f.tree.At(path...)
		if at == f.tree { // there is no spec
			return
		}
		for _, v := range at.Members {
			if !slices.Contains(plays, v.Key) {
				f.Fault("%s is not played by %s; take it out", append(slices.Clone(path), v.Key), Path(append(slices.Clone(path), v.Key)), player)
			}
		}
	}
	check(append(first(plays), "start"), "spec")
	if !slices.Contains(plays, "events") {
		for i := range f.Spec.Events {
			check(append(under(plays, "events"), "at"), "spec", "events", i)
		}
	}
	return f, f.err
}

// first returns the first parts of fields.
func first(plays []string) []string {
	var all []string
	for _, p := range plays {
		name, _, _ := strings.Cut(p, ".")
		all = append(all, name)
	}
	return all
}

// under returns the fields below another one.
func under(plays []string, field string) []string {
	var all []string
	for _, p := range plays {
		if name, ok := strings.CutPrefix(p, field+"."); ok {
			all = append(all, name)
		}
	}
	return all
}

// Fault reports a fault at a path; only the first one counts.
func (f *File) Fault(format string, path []any, values ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: %w", f.doc.Position(f.tree.At(path...).KeyOffset), fmt.Errorf(format, values...))
	}
}

// Err returns the first fault, or nil.
func (f *File) Err() error { return f.err }

// Path returns a path as in spec.events[0].at.
func Path(path []any) string { return (&doc.Mismatch{Steps: path}).Path() }

// Duration reads a duration at a path below spec; empty means otherwise.
func (f *File) Duration(text string, otherwise time.Duration, path ...any) time.Duration {
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > Longest {
		path = append([]any{"spec"}, path...)
		f.Fault("%s is %q; write a duration such as 90s or 1h30m", path, Path(path), text)
		return 0
	}
	return d
}

// Start returns when the scenario begins.
func (f *File) Start() time.Time {
	if f.Spec.Start == "" {
		return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	}
	at, err := time.Parse(time.RFC3339, f.Spec.Start)
	if err != nil {
		f.Fault("spec.start is %q; write an instant such as 2026-03-01T12:00:00Z", []any{"spec", "start"}, f.Spec.Start)
	}
	return at
}

// Times returns when the events happen, since the start; a file must list them in
// order of time.
func (f *File) Times() []time.Duration {
	var all []time.Duration
	for i, e := range f.Spec.Events {
		at := f.Duration(e.At, 0, "events", i, "at")
		if i > 0 && at < all[i-1] {
			path := []any{"spec", "events", i, "at"}
			f.Fault("%s is %s, before the event above; list events in their order", path, Path(path), e.At)
		}
		all = append(all, at)
	}
	return all
}
