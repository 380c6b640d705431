package check

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/opm"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// checkPackage checks a package once it is complete. The error is that of ctx.
func (v *validator) checkPackage(ctx context.Context, p *packageState) error {
	if p.doc != nil {
		v.defaultChannel(p)
	}
	if len(p.channels) == 0 && p.doc != nil && !v.c.MayMiss(catalog.SchemaChannel, p.name(), "") {
		var notes []opmNote
		if p.doc.DefaultChannel() == "" {
			notes = append(notes, opmLeaf([]string{p.name()}, "package must contain at least one channel"))
		}
		v.add(CodeNoChannel, p.doc, at("name"), packageSubject(p.name()), "it has no channel", "add an olm.channel document of the package", notes...)
	}
	for _, ch := range p.channels {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		v.checkChannel(p, ch)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v.checkVersions(p)
	for _, d := range p.noMessage {
		v.noMessage(p, d)
	}
	return nil
}

func (v *validator) defaultChannel(p *packageState) {
	name := p.doc.DefaultChannel()
	if name != "" && (p.channel(name) != nil || v.c.MayMiss(catalog.SchemaChannel, p.name(), name)) {
		return
	}
	var names []string
	for _, ch := range p.channels {
		names = append(names, ch.doc.Name())
	}
	slices.Sort(names)
	hint := "write the name of one of its channels: " + strings.Join(names, ", ")
	nearest := ""
	switch {
	case len(names) == 1:
		nearest = names[0]
	case name != "":
		nearest = words.Nearest(name, names)
	}
	if nearest != "" {
		defer v.fix(at("defaultChannel"), nearest) // once the finding is there
	}
	switch {
	case len(names) == 0:
		hint = "add a channel and name it as the default"
	case name != "" && nearest != "":
		hint = "write " + strconv.Quote(nearest)
	}
	if name == "" {
		v.add(CodeDefaultChannel, p.doc, nil, packageSubject(p.name()), "it has no default channel", hint,
			opmLeaf([]string{p.name()}, "default channel must be set"))
		return
	}
	// opm adds an empty channel of that name, and reports it.
	v.add(CodeDefaultChannel, p.doc, at("defaultChannel"), packageSubject(p.name()),
		fmt.Sprintf("its default channel %q is not one of its channels", name), hint,
		opmLeaf([]string{p.name(), name}, "channel must contain at least one bundle"))
}

// checkVersions reports bundles whose version and release are the same.
func (v *validator) checkVersions(p *packageState) {
	byVersion := map[string][]*bundleState{}
	names := map[string][]string{} // as opm sees it: entries without a bundle have version 0.0.0
	for _, b := range p.order {
		if b.version == "" {
			continue
		}
		byVersion[b.full()] = append(byVersion[b.full()], b)
		if b.listed {
			names[b.full()] = append(names[b.full()], b.doc.Name())
		}
	}
	for _, ch := range p.channels {
		for _, name := range p.missing(ch) {
			if !slices.Contains(names["0.0.0"], name) {
				names["0.0.0"] = append(names["0.0.0"], name)
			}
		}
	}
	var groups []string
	for version, list := range names {
		if len(list) > 1 {
			slices.Sort(list)
			groups = append(groups, version+"\x00{"+version+": ["+strings.Join(list, ", ")+"]}")
		}
	}
	if len(groups) > 0 {
		slices.Sort(groups)
		for i, g := range groups {
			_, groups[i], _ = strings.Cut(g, "\x00")
		}
		v.onlyOPM(p, opmLeaf([]string{p.name()}, "duplicate versions found in bundles: %v", groups))
	}
	for _, b := range p.order {
		if same := byVersion[b.full()]; len(same) > 1 && same[0] != b {
			first := same[0]
			v.add(CodeVersionConflict, b.doc, at("properties"), bundleSubject(p.name(), b.doc.Name()),
				fmt.Sprintf("bundle %q has the same version %s", first.doc.Name(), b.full()),
				"give one of the two another version, or remove it")
			v.findings[len(v.findings)-1].d.Also = first.doc.Start()
		}
	}
}

// checkChannel checks the channel's entries, one by one and together.
func (v *validator) checkChannel(p *packageState, ch *channelState) {
	name := ch.doc.Name()
	place := []string{p.name(), name}
	if len(ch.entries) == 0 {
		v.add(CodeEmptyChannel, ch.doc, at("entries"), channelSubject(p.name(), name), "it has no entry",
			"add an entry for a bundle, or remove the channel", opmLeaf(place, "channel must contain at least one bundle"))
		return
	}
	v.checkChain(p, ch)
	for _, i := range ch.entries {
		v.checkEntry(p, ch, i)
	}
}

func (v *validator) checkEntry(p *packageState, ch *channelState, i int) {
	e := &ch.doc.Entries()[i]
	place := []string{p.name(), ch.doc.Name(), e.Name}
	subject := channelSubject(p.name(), ch.doc.Name())
	add := func(code catalog.Code, path []any, message, hint string, notes ...opmNote) {
		v.add(code, ch.doc, append(at("entries", i), path...), subject, message, hint, notes...)
	}
	if e.Name == "" {
		add(CodeEntryName, nil, "an entry has no name", "write the name of the bundle", opmLeaf(place, "name must be set"))
	}
	if e.Name != "" && p.bundles[e.Name] == nil {
		v.objectName(ch.doc, at("entries", i, "name"), subject, "an entry", e.Name)
	}
	for k, skip := range e.Skips {
		if skip == "" {
			add(CodeEmptySkip, at("skips", k), fmt.Sprintf("the entry %q skips a bundle without a name", e.Name), "remove the empty string",
				opmLeaf(place, "skip[%d] is empty", k))
			v.fix(at("entries", i, "skips", k), nil)
		}
	}
	if e.SkipRange != "" {
		if _, err := semverx.ParseRange(e.SkipRange); err != nil {
			add(CodeSkipRange, at("skipRange"), fmt.Sprintf("the skipRange of %q is not a range of versions: %s", e.Name, rangeReason(err)), rangeHint(err),
				opmLeaf(place, "invalid skipRange %q: %v", e.SkipRange, opm.RangeError(e.SkipRange)))
		}
	}
	if b := p.bundles[e.Name]; b != nil {
		v.checkBundle(p, b, place)
	}
}

// checkBundle checks a bundle once for each channel that has it, as opm does;
// our findings are the same each time and are reported once.
func (v *validator) checkBundle(p *packageState, b *bundleState, place []string) {
	r := b.doc
	subject := bundleSubject(p.name(), r.Name())
	if want := p.name() + "-v" + b.full(); b.release != "" && r.Name() != want {
		v.add(CodeBundleName, r, at("name"), subject, "a bundle with a release must be named after package, version and release", "name it "+strconv.Quote(want),
			opmLeaf(place, "name %q does not match normalized name %q", r.Name(), want))
	}
	objects := slices.ContainsFunc(r.PropertyIndex(), func(p catalog.Property) bool { return p.Type == catalog.PropertyBundleObject })
	if r.Image() == "" && !objects {
		v.add(CodeImage, r, nil, subject, "it has no image, and no olm.bundle.object properties instead", "add an image field",
			opmLeaf(place, "bundle image must be set"))
	}
	if b.build && b.release != "" {
		v.add(CodeRelease, r, at("properties"), subject, "its version has build metadata in addition to a release",
			"remove the + and what follows it from the version", opmLeaf(place, "cannot use build metadata in version with a release version"))
	}
}
