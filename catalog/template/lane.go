package template

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// lane is a channel whose entries change. What does not change is written
// verbatim from the template.
type lane struct {
	value *doc.Value
	pkg   string
	steps []*step
}

// step is an entry of a lane.
type step struct {
	catalog.Entry
	value   *doc.Value // verbatim from the template, nil for a new one
	changed bool
}

func readStep(v *doc.Value) *step {
	s := &step{value: v}
	doc.Decode(v, &s.Entry, 0) // the catalog has been checked
	return s
}

// substitute puts the bundle name in place of base.
func (l *lane) substitute(name, base string) {
	before := len(l.steps)
	for _, s := range l.steps[:before] {
		if s.Name != base {
			continue
		}
		taken := &step{Entry: catalog.Entry{Name: name, Replaces: s.Replaces, Skips: append(slices.Clone(s.Skips), base), SkipRange: s.SkipRange}, changed: true}
		l.steps = append(l.steps, taken)
		s.Replaces, s.Skips, s.SkipRange, s.changed = "", nil, "", true
	}
	for _, s := range l.steps[:before] {
		switch {
		case s.Replaces == base:
			s.Replaces, s.Skips, s.changed = name, append(slices.Clone(s.Skips), base), true
		case slices.Contains(s.Skips, base):
			s.Skips = slices.DeleteFunc(append(slices.Clone(s.Skips), name), func(skip string) bool { return skip == base })
			s.changed = true
		}
	}
}

// document returns the channel as it is now.
func (l *lane) document() json.RawMessage {
	if !slices.ContainsFunc(l.steps, func(s *step) bool { return s.changed }) {
		return l.value.JSON()
	}
	return rewrite(l.value, map[string]func() json.RawMessage{"entries": l.entries})
}

func (l *lane) entries() json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, s := range l.steps {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(s.json())
	}
	out.WriteByte(']')
	return out.Bytes()
}

// json returns the entry: verbatim from the template if it did not change,
// otherwise with its updates written again and all other fields unchanged.
func (s *step) json() json.RawMessage {
	switch {
	case !s.changed:
		return s.value.JSON()
	case s.value == nil:
		return marshal(s.Entry)
	}
	drop := func() json.RawMessage { return nil }
	others := rewrite(s.value, map[string]func() json.RawMessage{"name": drop, "replaces": drop, "skips": drop, "skipRange": drop})
	own := marshal(s.Entry)
	if len(others) > len("{}") {
		own = append(append(own[:len(own)-1:len(own)-1], ','), others[1:]...)
	}
	return own
}

// rewrite returns an object with some members replaced, or dropped for nil.
func rewrite(v *doc.Value, members map[string]func() json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	for i := range v.Members {
		m := &v.Members[i]
		text := json.RawMessage(m.Raw)
		if replace := members[m.Key]; replace != nil {
			text = replace()
		}
		if text == nil {
			continue
		}
		out.WriteByte(",{"[b2i(out.Len() == 0)])
		out.Write(marshal(m.Key))
		out.WriteByte(':')
		out.Write(text)
	}
	if out.Len() == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes()
}
