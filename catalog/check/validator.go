package check

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/look"
	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/catalog/internal/opm"
	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// validator checks the documents in opm's order, so that its first finding of
// the first phase is the one error that opm reports.
type validator struct {
	c        *catalog.Catalog
	flaws    map[*catalog.Document]*bundleFlaws
	packages map[string]*packageState
	findings []finding
	settled  map[string]bool // packages that need no second check, see the function
}

// packageState is what the documents say about one package.
type packageState struct {
	pkg        string            // its name
	doc        *catalog.Document // nil if it cannot be read
	channels   []*channelState   // in document order
	bundles    map[string]*bundleState
	order      []*bundleState // in document order
	deprecated map[catalog.Reference]*deprecation
	noMessage  []*deprecation
}

// channelState is a channel without its repeated entries.
type channelState struct {
	doc     *catalog.Document
	entries []int // indexes of the record's entries that count
	byName  map[string]*catalog.Entry
}

// bundleState is a bundle document and what its olm.package property says.
type bundleState struct {
	doc     *catalog.Document
	version string // as opm compares it
	release string
	build   bool // the version has build metadata
	listed  bool // some channel has it
}

// finding is a diagnostic whose position may still have to be looked up, and
// opm's message about the fault.
type finding struct {
	pkg  string              // its package, or "" if that is not known
	d    *catalog.Diagnostic // nil for what only opm says
	doc  *catalog.Document
	path []any // names and indexes that lead to the place in doc
	opm  []opmNote
	fix  *Fix              // nil unless the hint leaves no choice
	twin *catalog.Document // of a document that exists already the first one

	hidden bool // it follows from another one
}

// add records a finding at a place in a document.
func (v *validator) add(code catalog.Code, at *catalog.Document, path []any, subject, message, hint string, opm ...opmNote) {
	v.findings = append(v.findings, finding{
		d:   &catalog.Diagnostic{Pos: at.Start(), Code: code, Subject: subject, Message: message, Hint: hint},
		pkg: at.Package(), doc: at, path: path, opm: opm,
	})
}

// repeats records which document the last finding says exists already.
func (v *validator) repeats(first *catalog.Document) {
	f := &v.findings[len(v.findings)-1]
	f.twin, f.d.Also = first, first.Start()
}

// onlyOPM records opm's message about a fault that we report in another way.
func (v *validator) onlyOPM(p *packageState, notes ...opmNote) {
	v.findings = append(v.findings, finding{pkg: p.name(), opm: notes})
}

func at(steps ...any) []any { return steps }

func packageSubject(name string) string { return "package " + strconv.Quote(name) }

func channelSubject(pkg, name string) string {
	return packageSubject(pkg) + ", channel " + strconv.Quote(name)
}

func bundleSubject(pkg, name string) string {
	return packageSubject(pkg) + ", bundle " + strconv.Quote(name)
}

// documents returns the documents of a schema that are to be checked, by path
// and place.
func (v *validator) documents(schema string) iter.Seq[*catalog.Document] {
	return func(yield func(*catalog.Document) bool) {
		for d := range v.c.Documents() {
			if d.Schema() == schema && !v.settled[d.Package()] && !yield(d) {
				return
			}
		}
	}
}

// sortedPackages returns the packages that are to be checked.
func (v *validator) sortedPackages() []*packageState {
	list := make([]*packageState, 0, len(v.packages))
	for _, p := range v.packages {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *packageState) int { return cmp.Compare(a.name(), b.name()) })
	return list
}

func (p *packageState) name() string { return p.pkg }

// channel returns the package's channel of that name, or nil.
func (p *packageState) channel(name string) *channelState {
	for _, ch := range p.channels {
		if ch.doc.Name() == name {
			return ch
		}
	}
	return nil
}

// loadFaults takes over the faults of opening.
func (v *validator) loadFaults() {
	for _, d := range v.c.Faults() {
		v.findings = append(v.findings, finding{d: d, opm: []opmNote{opmLoad(d.Error())}})
	}
}

// report looks up positions and sorts. The error is that of ctx.
func (v *validator) report(ctx context.Context) (*Report, error) {
	r := &Report{opm: judgeOPM(v.findings), counts: countsOf(v.c), warnings: v.c.Warnings(), of: v.c, sound: v.sound(), flaws: v.flaws}
	var shown, hidden []finding
	for _, f := range v.findings {
		if f.hidden {
			hidden = append(hidden, f)
		} else {
			shown = append(shown, f)
		}
	}
	r.fixes = fixesOf(shown)
	var err error
	if r.findings, err = placed(ctx, shown); err != nil {
		return nil, err
	}
	r.hidden, err = placed(ctx, hidden)
	return r, err
}

// placed returns the diagnostics of findings with their positions, sorted. It
// reads each document once. The error is that of ctx.
func placed(ctx context.Context, findings []finding) (catalog.Diagnostics, error) {
	var all catalog.Diagnostics
	byDocument := map[*catalog.Document][]*finding{}
	for i := range findings {
		f := &findings[i]
		if f.d == nil {
			continue
		}
		all = append(all, f.d)
		if len(f.path) > 0 {
			byDocument[f.doc] = append(byDocument[f.doc], f)
		}
	}
	work := look.At(ctx)
	for d, list := range byDocument {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		loaded, err := doc.Reload(d)
		if err != nil {
			continue // fall back to the position of the document
		}
		for _, f := range list {
			offset, passed := offsetOf(loaded, f.path)
			f.d.Pos = loaded.Position(offset)
			if err := work.After(passed); err != nil {
				return nil, err
			}
		}
	}
	return all.Sorted(), nil
}

// offsetOf returns the offset of the value that keys and indexes lead to, at
// most as many as an outline has levels; if they lead no further, the offset
// of the last value found. Passed is how many values it went by.
func offsetOf(d *doc.Document, path []any) (offset, passed int) {
	members := d.Root()
	for _, step := range path {
		passed++
		n, ok := doc.Node{}, false
		switch step := step.(type) {
		case string:
			n, ok = d.Field(members, step)
		case int:
			for c := range members {
				if ok = step == 0; ok {
					n = c
					break
				}
				step--
				passed++
			}
		}
		if !ok {
			break
		}
		offset, members = n.Start, d.Children(n)
	}
	return offset, passed
}

// addPackages adds the olm.package documents.
func (v *validator) addPackages() {
	for r := range v.documents(catalog.SchemaPackage) {
		name := r.Name()
		if name == "" {
			v.add(CodePackageName, r, nil, "", "a package has no name", "add a name field",
				opmStop("config contains package with no name"))
			continue
		}
		if first := v.packages[name]; first != nil {
			v.add(CodeDuplicate, r, at("name"), packageSubject(name),
				"the package already exists", "merge the two documents into one",
				opmStop("duplicate package %q", name))
			v.repeats(first.doc)
			continue
		}
		if why, hint := names.Label(name); why != "" {
			v.add(CodePackageName, r, at("name"), packageSubject(name),
				"the name is not a DNS-1123 label: "+why, hint,
				opmStop("invalid package name %q: %v", name, opm.LabelErrors(name)))
		}
		v.packages[name] = &packageState{pkg: name, doc: r, bundles: map[string]*bundleState{}}
	}
}

// addUnread adds packages of which a document cannot be read, so that they are
// not reported as missing.
func (v *validator) addUnread() {
	for d := range v.c.Documents() {
		switch name := d.Package(); {
		case d.Schema() == catalog.SchemaPackage || shape.Schema(d.Schema()) == nil || name == "" || v.packages[name] != nil || v.settled[name]:
		case v.c.MayMiss(catalog.SchemaPackage, name, name):
			v.packages[name] = &packageState{pkg: name, bundles: map[string]*bundleState{}}
		}
	}
}

// unknownPackage reports that the package of a document does not exist.
func (v *validator) unknownPackage(d *catalog.Document, subject string, note opmNote) {
	nearest := words.Nearest(d.Package(), v.packageNames())
	message := "there is no package " + strconv.Quote(d.Package()) + " in the catalog"
	hint := "add an olm.package document of that name"
	if d.Package() == "" {
		message, hint = "the document does not name its package", "add a package field"
		nearest = ""
	} else if nearest != "" {
		hint = "write " + strconv.Quote(nearest) + " if that is what is meant, or add an olm.package document"
	}
	v.add(CodeUnknownPackage, d, at("package"), subject, message, hint, note)
	if nearest != "" {
		v.fix(at("package"), nearest)
	}
}

func (v *validator) packageNames() []string {
	names := slices.Collect(maps.Keys(v.settled))
	for _, p := range v.packages {
		names = append(names, p.name())
	}
	slices.Sort(names)
	return names
}

// addChannels adds the olm.channel documents.
func (v *validator) addChannels() {
	for r := range v.documents(catalog.SchemaChannel) {
		name, pkg := r.Name(), r.Package()
		p := v.packages[pkg]
		if p == nil {
			v.unknownPackage(r, "channel "+strconv.Quote(name), opmStop("unknown package %q for channel %q", pkg, name))
			continue
		}
		if name == "" {
			v.add(CodeChannelName, r, nil, packageSubject(pkg), "a channel has no name", "add a name field",
				opmStop("package %q contains channel with no name", pkg))
			continue
		}
		if first := p.channel(name); first != nil {
			v.add(CodeDuplicate, r, at("name"), channelSubject(pkg, name),
				"the channel already exists", "merge the two documents into one",
				opmStop("package %q has duplicate channel %q", pkg, name))
			v.repeats(first.doc)
			continue
		}
		v.channelName(r)
		p.channels = append(p.channels, v.channel(r))
	}
}

// channel adds the entries of a channel.
func (v *validator) channel(r *catalog.Document) *channelState {
	ch := &channelState{doc: r, byName: make(map[string]*catalog.Entry, len(r.Entries()))}
	for i := range r.Entries() {
		e := &r.Entries()[i]
		if ch.byName[e.Name] != nil {
			v.add(CodeDuplicate, r, at("entries", i, "name"), channelSubject(r.Package(), r.Name()),
				fmt.Sprintf("the entry %q is listed twice", e.Name), "merge replaces, skips and skipRange of both into one entry",
				opmStop("invalid package %q, channel %q: duplicate entry %q", r.Package(), r.Name(), e.Name))
			if first := ch.byName[e.Name]; first.Replaces == e.Replaces && first.SkipRange == e.SkipRange && slices.Equal(first.Skips, e.Skips) {
				v.fix(at("entries", i), nil)
			}
			continue
		}
		ch.byName[e.Name] = e
		ch.entries = append(ch.entries, i)
	}
	return ch
}
