package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/catalog/internal/opm"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// addBundles adds the olm.bundle documents.
func (v *validator) addBundles() {
	for r := range v.documents(catalog.SchemaBundle) {
		if flaws := v.flaws[r]; flaws != nil {
			v.objectFlaws(r, flaws)
		}
	}
	for r := range v.documents(catalog.SchemaBundle) {
		v.bundle(r)
	}
}

// objectFlaws reports payloads that keep opm from loading the catalog.
func (v *validator) objectFlaws(r *catalog.Document, flaws *bundleFlaws) {
	for _, flaw := range flaws.objects {
		v.flaw(r, flaw, opmLoad(fmt.Sprintf("read bundle objects: package %q, bundle %q: %s", r.Package(), r.Name(), flaw.opm)))
	}
}

func (v *validator) flaw(r *catalog.Document, f flaw, note opmNote) {
	v.findings = append(v.findings, finding{
		pkg: r.Package(),
		d:   &catalog.Diagnostic{Pos: f.pos, Code: f.code, Subject: bundleSubject(r.Package(), r.Name()), Message: f.message, Hint: f.hint},
		opm: []opmNote{note},
	})
}

func (v *validator) bundle(r *catalog.Document) {
	name, pkg := r.Name(), r.Package()
	p := v.packages[pkg]
	switch {
	case pkg == "":
		v.unknownPackage(r, "bundle "+strconv.Quote(name), opmStop("package name must be set for bundle %q", name))
		return
	case p == nil:
		v.unknownPackage(r, "bundle "+strconv.Quote(name), opmStop("unknown package %q for bundle %q", pkg, name))
		return
	case p.bundles[name] != nil:
		v.add(CodeDuplicate, r, at("name"), bundleSubject(pkg, name),
			"the bundle already exists", "keep one of the two, or give the other another name",
			opmStop("package %q has duplicate bundle %q", pkg, name))
		v.repeats(p.bundles[name].doc)
		return
	}
	if name != "" {
		v.objectName(r, at("name"), bundleSubject(pkg, name), "the bundle", name)
	}
	b := &bundleState{doc: r}
	p.bundles[name] = b
	p.order = append(p.order, b)
	flaws := cmp.Or(v.flaws[r], noFlaws)
	for _, f := range flaws.properties {
		v.flaw(r, f, opmStop("parse properties for bundle %q: %s", name, f.opm))
	}
	property, i := v.packageProperty(p, b)
	for _, f := range flaws.images {
		v.flaw(r, f, opmStop("package %q bundle %q %s", pkg, name, f.opm))
	}
	if i >= 0 {
		v.version(b, property, i)
	}
	for _, ch := range p.channels {
		b.listed = b.listed || ch.byName[name] != nil
	}
	if !b.listed && !v.c.MayMiss(catalog.SchemaChannel, pkg, "") {
		hint := "add an entry for it to an olm.channel document of the package, or remove the bundle"
		v.add(CodeNotInChannel, r, at("name"), bundleSubject(pkg, name), "no channel of the package has it", hint,
			opmStop("package %q, bundle %q not found in any channel entries", pkg, name))
	}
}

// packageValue is the value of an olm.package property.
type packageValue struct {
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
	Release     string `json:"release"`
}

// packageProperty checks that there is one olm.package property, of the
// bundle's package. It returns its index, or -1 if there is no well-formed
// one.
func (v *validator) packageProperty(p *packageState, b *bundleState) (packageValue, int) {
	r := b.doc
	var indexes []int
	for i, property := range r.PropertyIndex() {
		if property.Type == catalog.PropertyPackage {
			indexes = append(indexes, i)
		}
	}
	subject := bundleSubject(r.Package(), r.Name())
	if len(indexes) != 1 {
		message, place := "it has no olm.package property", at("properties")
		hint := `add one: {"type": "olm.package", "value": {"packageName": ` + strconv.Quote(p.name()) + `, "version": "..."}}`
		if len(indexes) > 1 {
			message = fmt.Sprintf("it has %d olm.package properties", len(indexes))
			place, hint = at("properties", indexes[1]), "keep one of them"
		}
		v.add(CodePackageProperty, r, place, subject, message, hint,
			opmStop("package %q bundle %q must have exactly 1 %q property, found %d", r.Package(), r.Name(), catalog.PropertyPackage, len(indexes)))
		return packageValue{}, -1
	}
	i := indexes[0]
	value := r.PropertyIndex()[i].Value // nil, too, if it is larger than any true one
	var property packageValue
	if value == nil || !fits(value, &property) {
		return packageValue{}, -1
	}
	if property.PackageName != p.name() {
		v.add(CodePackageProperty, r, at("properties", i, "value", "packageName"), subject,
			fmt.Sprintf("its olm.package property names the package %q", property.PackageName), "write "+strconv.Quote(p.name()),
			opmStop("package %q does not match %q property %q", r.Package(), catalog.PropertyPackage, property.PackageName))
		v.fix(at("properties", i, "value", "packageName"), p.name())
	}
	return property, i
}

// version checks the version and the release of a bundle.
func (v *validator) version(b *bundleState, property packageValue, i int) {
	r := b.doc
	subject := bundleSubject(r.Package(), r.Name())
	b.version, b.release = property.Version, property.Release
	if version, err := semverx.Parse(property.Version); err != nil {
		reason, hint := versionReason(err)
		meant, far := semverx.ParseTolerant(property.Version)
		if far == nil {
			hint = "write " + meant.String()
		}
		v.add(CodeVersion, r, at("properties", i, "value", "version"), subject,
			fmt.Sprintf("%q is not a semantic version: %s", property.Version, reason), hint,
			opmStop("error parsing bundle %q version %q: %v", r.Name(), property.Version, opm.VersionError(property.Version)))
		if far == nil {
			v.fix(at("properties", i, "value", "version"), meant.String())
		}
	} else {
		b.version, b.build = version.String(), version.Build() != ""
	}
	if why, hint := names.Release(property.Release); property.Release != "" && why != "" {
		v.add(CodeRelease, r, at("properties", i, "value", "release"), subject,
			fmt.Sprintf("the release %q is malformed: %s", property.Release, why), hint,
			opmStop("error parsing bundle %q release version %q: %v", r.Name(), property.Release, opm.ReleaseError(property.Release)))
	}
}

// versionReason words a version's error, always with a hint.
func versionReason(err error) (reason, hint string) {
	reason, hint = err.Error(), "write MAJOR.MINOR.PATCH, as in 1.2.0"
	if bad := (*semverx.VersionError)(nil); errors.As(err, &bad) {
		return bad.Reason, cmp.Or(bad.Hint, hint)
	}
	return reason, hint
}

// full returns version and release as one, which bundles are compared by.
func (b *bundleState) full() string {
	if b.release == "" {
		return b.version
	}
	return b.version + "-" + b.release
}

// checkEntries reports channel entries that are not bundles of the package.
func (v *validator) checkEntries() {
	for _, p := range v.sortedPackages() {
		if len(p.channels) == 0 {
			continue
		}
		// opm looks for such entries only in the last of a package's channels.
		if missing := p.missing(p.channels[len(p.channels)-1]); len(missing) > 0 {
			slices.Sort(missing)
			v.onlyOPM(p, opmStop("no olm.bundle blobs found in package %q for olm.channel entries %s", p.name(), missing))
		}
	}
	for _, p := range v.sortedPackages() {
		var names []string
		for _, b := range p.order {
			names = append(names, b.doc.Name())
		}
		for _, ch := range p.channels {
			for _, i := range ch.entries {
				e := &ch.doc.Entries()[i]
				if p.bundles[e.Name] != nil || v.c.MayMiss(catalog.SchemaBundle, p.name(), e.Name) {
					continue
				}
				hint := "add the olm.bundle document, or remove the entry"
				nearest := words.Nearest(e.Name, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return ch.byName[n] != nil }))
				if nearest != "" {
					hint = "write " + strconv.Quote(nearest) + " if that is what is meant, or add the olm.bundle document"
				}
				place := []string{p.name(), ch.doc.Name(), e.Name}
				v.add(CodeMissingBundle, ch.doc, at("entries", i, "name"), channelSubject(p.name(), ch.doc.Name()),
					fmt.Sprintf("the entry %q is not a bundle of the package", e.Name), hint,
					opmLeaf(place, "must be exactly one property with type %q", catalog.PropertyPackage),
					opmLeaf(place, "bundle image must be set"))
				if nearest != "" {
					v.fix(at("entries", i, "name"), nearest)
				}
			}
		}
	}
}

// missing returns the names of the channel's entries that are not bundles.
func (p *packageState) missing(ch *channelState) []string {
	var names []string
	for _, i := range ch.entries {
		if name := ch.doc.Entries()[i].Name; p.bundles[name] == nil {
			names = append(names, name)
		}
	}
	return names
}
