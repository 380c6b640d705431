package check

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/words"
)

// deprecation is one entry of an olm.deprecations document.
type deprecation struct {
	catalog.Deprecation
	doc   *catalog.Document
	index int
}

func (e *deprecation) place(steps ...any) []any { return append(at("entries", e.index), steps...) }

// checkDeprecations checks the olm.deprecations documents.
func (v *validator) checkDeprecations() {
	i := 0
	for d := range v.c.Documents() {
		if d.Schema() != catalog.SchemaDeprecations {
			continue
		}
		if !v.settled[d.Package()] {
			v.deprecations(d, i)
		}
		i++
	}
}

func (v *validator) deprecations(d *catalog.Document, index int) {
	p := v.packages[d.Package()]
	switch {
	case d.Package() == "":
		v.unknownPackage(d, "deprecations", opmStop("package name must be set for deprecation item %v", index))
		return
	case p == nil:
		v.unknownPackage(d, "deprecations", opmStop("cannot apply deprecations to an unknown package %q", d.Package()))
		return
	case p.deprecated != nil:
		v.add(CodeDuplicate, d, nil, packageSubject(d.Package())+", deprecations", "the package already has an olm.deprecations document", "merge the two documents into one",
			opmStop("expected a maximum of one deprecation per package: %q", d.Package()))
		return
	}
	p.deprecated = map[catalog.Reference]*deprecation{}
	var list struct {
		Entries []catalog.Deprecation `json:"entries"`
	}
	if err := d.Decode(&list); err != nil { // the document was decodable before: the file has changed
		v.add(catalog.CodeRead, d, nil, packageSubject(d.Package())+", deprecations", "cannot be read again: "+err.Error(), "open the catalog again")
		return
	}
	for i, e := range list.Entries {
		v.deprecation(p, &deprecation{e, d, i})
	}
}

// deprecation checks one entry.
func (v *validator) deprecation(p *packageState, e *deprecation) {
	ref, pkg := e.Reference, p.name()
	subject := packageSubject(pkg) + ", deprecations"
	add := func(code catalog.Code, path []any, message, hint string, notes ...opmNote) {
		v.add(code, e.doc, path, subject, message, hint, notes...)
	}
	switch {
	case ref.Schema == "":
		add(CodeDeprecation, e.place("reference"), fmt.Sprintf("entry %d does not say what it is about", e.index),
			"add a reference with the schema olm.package, olm.channel or olm.bundle",
			opmStop("schema must be set for deprecation entry [%d] for package %q", e.index, pkg))
		return
	case p.deprecated[ref] != nil:
		add(CodeDuplicate, e.place("reference"), fmt.Sprintf("%s is deprecated twice", ref), "keep one entry, with the whole message",
			opmStop("duplicate deprecation entry %s for package %q", goString(ref), pkg))
		if p.deprecated[ref].Message == e.Message {
			v.fix(e.place(), nil)
		}
		return
	}
	p.deprecated[ref] = e
	switch ref.Schema {
	case catalog.SchemaBundle:
		if p.bundles[ref.Name] == nil && !v.c.MayMiss(catalog.SchemaBundle, pkg, ref.Name) {
			hint, nearest := e.nearHint(p)
			add(CodeDeprecation, e.place("reference", "name"), fmt.Sprintf("%s is not in the package", ref), hint,
				opmStop("cannot deprecate bundle %q for package %q: bundle not found", ref.Name, pkg))
			v.fixName(e, nearest)
			return
		}
	case catalog.SchemaChannel:
		if p.channel(ref.Name) == nil && !v.c.MayMiss(catalog.SchemaChannel, pkg, ref.Name) {
			var notes []opmNote
			if p.doc == nil || ref.Name != p.doc.DefaultChannel() || ref.Name == "" { // otherwise opm has made it up
				notes = append(notes, opmStop("cannot deprecate channel %q for package %q: channel not found", ref.Name, pkg))
			} else if e.Message == "" {
				notes = append(notes, opmLeaf([]string{pkg, ref.Name}, opmNoMessage))
			}
			hint, nearest := e.nearHint(p)
			add(CodeDeprecation, e.place("reference", "name"), fmt.Sprintf("%s is not in the package", ref), hint, notes...)
			v.fixName(e, nearest)
			return
		}
	case catalog.SchemaPackage:
		if ref.Name != "" {
			add(CodeDeprecation, e.place("reference", "name"), "a deprecation of the package has no name, but here it is "+strconv.Quote(ref.Name), "remove the name",
				opmStop("package name must be empty for deprecated package %q (specified %q)", pkg, ref.Name))
			v.fix(e.place("reference", "name"), nil)
			return
		}
	default:
		add(CodeDeprecation, e.place("reference", "schema"), fmt.Sprintf("a deprecation cannot be about %q", ref.Schema),
			"write olm.package, olm.channel or olm.bundle",
			opmStop("cannot deprecate object %s referenced by entry %v for package %q: object schema unknown", goString(ref), e.index, pkg))
		return
	}
	if e.Message == "" {
		p.noMessage = append(p.noMessage, e)
	}
}

const opmNoMessage = "invalid deprecation: message must be set"

// noMessage reports a deprecation that says nothing.
func (v *validator) noMessage(p *packageState, e *deprecation) {
	var notes []opmNote
	switch e.Reference.Schema {
	case catalog.SchemaPackage:
		notes = append(notes, opmLeaf([]string{p.name()}, opmNoMessage))
	case catalog.SchemaChannel:
		notes = append(notes, opmLeaf([]string{p.name(), e.Reference.Name}, opmNoMessage))
	default:
		for _, ch := range p.channels {
			if ch.byName[e.Reference.Name] != nil {
				notes = append(notes, opmLeaf([]string{p.name(), ch.doc.Name(), e.Reference.Name}, opmNoMessage))
			}
		}
	}
	v.add(CodeDeprecation, e.doc, e.place(), packageSubject(p.name())+", deprecations",
		fmt.Sprintf("the deprecation of %s has no message", e.Reference), "say what users should do instead", notes...)
}

// nearHint suggests what a deprecation may be meant for.
func (e *deprecation) nearHint(p *packageState) (hint, nearest string) {
	var names []string
	for _, b := range p.order {
		if e.Reference.Schema == catalog.SchemaBundle {
			names = append(names, b.doc.Name())
		}
	}
	for _, ch := range p.channels {
		if e.Reference.Schema == catalog.SchemaChannel {
			names = append(names, ch.doc.Name())
		}
	}
	slices.Sort(names)
	if nearest = words.Nearest(e.Reference.Name, names); nearest != "" {
		return "write " + strconv.Quote(nearest) + " if that is what is meant, or remove the entry", nearest
	}
	return "remove the entry, or correct the name", ""
}

// fixName notes that a deprecation is likely about another name.
func (v *validator) fixName(e *deprecation, nearest string) {
	if nearest != "" {
		v.fix(e.place("reference", "name"), nearest)
	}
}

// goString returns what opm's messages show of a reference.
func goString(r catalog.Reference) string {
	return fmt.Sprintf("declcfg.PackageScopedReference{Schema:%q, Name:%q}", r.Schema, r.Name)
}
