package template

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// substitutes is a catalog, and bundles to take the place of others.
type substitutes struct {
	entries []entry
	list    []substitution
}

// substitution says that the bundle that a reference renders to takes the
// place of another.
type substitution struct {
	name reference // of the new bundle
	base string    // the name of the old one
	at   *doc.Value
}

func (p *parser) substitutes(tree *doc.Value) expander {
	var t struct {
		Schema        string       `json:"schema"`
		Entries       []*doc.Value `json:"entries"`
		Substitutions []*doc.Value `json:"substitutions"`
	}
	p.decode(tree, "", &t, doc.Strict)
	s := &substitutes{}
	for i, v := range t.Entries {
		if e, ok := p.entry(fmt.Sprintf("entries[%d]", i), v); ok {
			s.entries = append(s.entries, *e)
		}
	}
	for i, v := range t.Substitutions {
		if sub, ok := p.substitution(fmt.Sprintf("substitutions[%d]", i), v); ok {
			p.again(s.list, sub)
			s.list = append(s.list, *sub)
		}
	}
	return s
}

// substitution reads one substitution.
func (p *parser) substitution(path string, v *doc.Value) (*substitution, bool) {
	var t struct {
		Name string `json:"name"`
		Base string `json:"base"`
	}
	if !p.decode(v, path, &t, doc.Strict) {
		return nil, false
	}
	switch {
	case t.Name == "":
		p.fault(CodeSubstitution, at(v, "name"), path+" names no bundle to substitute", "write name: with the reference of its image")
	case t.Base == "":
		p.fault(CodeSubstitution, at(v, "base"), path+" names no base", "write base: with the name of the bundle that is substituted")
	case t.Name == t.Base:
		p.fault(CodeSubstitution, at(v, "base"), path+" substitutes a bundle for itself", "name is the reference of an image, base the name of a bundle")
	}
	return &substitution{reference{t.Name, at(v, "name")}, t.Base, at(v, "base")}, t.Name != "" && t.Base != "" && t.Name != t.Base
}

// again reports a base or a new bundle that was used before.
func (p *parser) again(before []substitution, s *substitution) {
	for _, o := range before {
		if o.base == s.base {
			p.fault(CodeSubstitution, s.at, fmt.Sprintf("bundle %q is substituted a second time", s.base), "substitute the substitute")
		}
		if o.name.ref == s.name.ref {
			p.fault(CodeSubstitution, s.name.at, fmt.Sprintf("%q already substitutes %q", s.name.ref, o.base), "name another bundle")
		}
	}
}

func (s *substitutes) references() []reference {
	var all []reference
	for _, sub := range s.list {
		all = append(all, sub.name)
	}
	return all
}

// expand applies the substitutions one after the other. The catalog is
// checked before and after.
func (s *substitutes) expand(x *expansion) []json.RawMessage {
	var docs []json.RawMessage
	var at []*doc.Value
	for _, e := range s.entries {
		docs, at = append(docs, e.value.JSON()), append(at, e.value)
	}
	if !x.check(docs, at, "the entries are not a valid catalog") {
		return nil
	}
	c := x.load(s.entries)
	for i := range s.list {
		c.substitute(x, &s.list[i])
		if len(x.found) > 0 {
			return nil
		}
	}
	docs = c.documents()
	for len(at) < len(docs) {
		at = append(at, s.list[len(at)-len(s.entries)].name.at)
	}
	if len(s.list) == 0 || x.check(docs, at, "the catalog is not valid after the substitutions") {
		return docs
	}
	return nil
}

// substituted is a catalog in which bundles are being substituted.
type substituted struct {
	entries  []entry
	channels map[int]*lane // by index of the entry
	bundles  []*rendered   // those of the entries
	added    []*rendered
}

// load reads the channels and bundles of the entries.
func (x *expansion) load(entries []entry) *substituted {
	c := &substituted{entries: entries, channels: map[int]*lane{}}
	for i, e := range entries {
		switch e.schema {
		case catalog.SchemaChannel:
			l := &lane{value: e.value}
			l.pkg, _ = e.value.Field("package").Text()
			if list := e.value.Field("entries"); list != nil {
				for j := range list.Members {
					l.steps = append(l.steps, readStep(&list.Members[j]))
				}
			}
			c.channels[i] = l
		case catalog.SchemaBundle:
			b, fault := read(Bundle{JSON: e.value.JSON()})
			if fault != "" {
				x.fault(CodeBundle, e.value, "the bundle cannot be used: "+fault, "fix it")
				continue
			}
			c.bundles = append(c.bundles, b)
		}
	}
	return c
}

// documents returns the entries with their channels as they are now, and the
// bundles added.
func (c *substituted) documents() []json.RawMessage {
	var docs []json.RawMessage
	for i, e := range c.entries {
		if l := c.channels[i]; l != nil {
			docs = append(docs, l.document())
		} else {
			docs = append(docs, e.value.JSON())
		}
	}
	for _, b := range c.added {
		docs = append(docs, b.json)
	}
	return docs
}

// substitute puts a bundle in place of its base, in all channels of its
// package: it takes over the updates of the base and skips it, the base no
// longer updates anything, and entries that replaced or skipped the base
// replace or skip the new bundle (and also skip the base, if they replaced
// it).
func (c *substituted) substitute(x *expansion, s *substitution) {
	list := x.bundles[s.name.ref]
	if len(list) != 1 {
		x.fault(CodeBundle, s.name.at, fmt.Sprintf("%q renders to %d bundles, but must render to one", s.name.ref, len(list)), "name the image of one bundle")
		return
	}
	b := list[0]
	base := c.find(b.pkg, s.base)
	if base == nil {
		x.fault(CodeSubstitution, s.at, fmt.Sprintf("package %q has no bundle %q to substitute", b.pkg, s.base), "name a bundle in the entries or an earlier substitute"+c.nearest(b.pkg, s.base))
		return
	}
	for _, r := range []struct {
		b  *rendered
		at *doc.Value
	}{{b, s.name.at}, {base, s.at}} {
		if fault, hint := r.b.versions(); fault != "" {
			x.fault(CodeVersion, r.at, fault, hint)
			return
		}
	}
	if base.compare(b) >= 0 {
		x.fault(CodeSubstitution, s.name.at, fmt.Sprintf("bundle %q of version %s cannot substitute %q of version %s, which is not lower", b.name, b.versionRelease(), base.name, base.versionRelease()),
			"substitute by a higher version or release")
		return
	}
	for _, l := range c.channels {
		if l.pkg == b.pkg {
			l.substitute(b.name, s.base)
		}
	}
	c.added = append(c.added, b)
}

func (c *substituted) find(pkg, name string) *rendered {
	for _, b := range slices.Concat(c.bundles, c.added) {
		if b.pkg == pkg && b.name == name {
			return b
		}
	}
	return nil
}

func (c *substituted) nearest(pkg, name string) string {
	var names []string
	for _, b := range slices.Concat(c.bundles, c.added) {
		if b.pkg == pkg {
			names = append(names, b.name)
		} else if b.name == name {
			return fmt.Sprintf("; package %q has one of that name", b.pkg)
		}
	}
	if nearest := words.Nearest(name, names); nearest != "" {
		return "; did you mean " + nearest + "?"
	}
	return ""
}
