package bundle

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// The kinds of manifests that make up a bundle.
const (
	kindCSV = "ClusterServiceVersion"
	kindCRD = "CustomResourceDefinition"
)

// manifest reads a file of the directory manifests.
func (r *reader) manifest(f *file) {
	at := catalog.Position{File: f.name}
	switch {
	case f.fault != nil && len(f.docs) == 0:
		*r.found = append(*r.found, lost(f.fault, "no more than a warning"))
		return
	case len(f.docs) == 0:
		r.found.fault(CodeEmptyDocument, at, "", "the file is empty, and registries reject it", "delete it")
		return
	case f.hollow && !r.options.EveryDocument:
		r.found.fault(CodeEmptyDocument, f.docs[0].doc.Start, describe(f.docs[0]),
			"the --- above it ends a document of only comments and blank lines, and catalog tools read only the first document: they leave out the whole file",
			"delete that ---, or everything before it").unread = true
		return
	}
	for i, src := range f.docs {
		if i > 0 && !r.options.EveryDocument {
			r.found.fault(CodeMoreDocuments, src.doc.Start, describe(src),
				"catalog tools keep only the first document of a file, so this one is silently lost",
				"move it to a file of its own")
			continue
		}
		r.object(src)
	}
	if f.fault != nil {
		*r.found = append(*r.found, finding{Diagnostic: f.fault})
	}
}

// lost is the finding that a file cannot be read, and what tools do with it.
// Where tools read it anyway, with an unreliable result, the bundle cannot be
// rendered as they do.
func lost(d *catalog.Diagnostic, what string) finding {
	told := *d
	f := finding{Diagnostic: &told, unread: true}
	switch d.Code {
	case catalog.CodeDuplicateKey:
		told.Message += "; catalog tools silently use the last"
		f.stops = true
	case catalog.CodeEncoding, catalog.CodeLimit:
		f.stops = true
	default:
		told.Message += "; catalog tools leave out the file with " + what
	}
	return f
}

// describe names the object that a document holds.
func describe(src *source) string {
	kind, _ := src.tree.Get("kind").Text()
	name, _ := src.tree.Get("metadata", "name").Text()
	m := Manifest{Kind: kind, Name: name}
	return m.subject()
}

// object reads one document of a manifest file.
func (r *reader) object(src *source) {
	m := &Manifest{Position: src.doc.Start, src: src}
	m.APIVersion, _ = src.tree.Get("apiVersion").Text()
	m.Kind, _ = src.tree.Get("kind").Text()
	m.Name, _ = src.tree.Get("metadata", "name").Text()
	m.Namespace, _ = src.tree.Get("metadata", "namespace").Text()
	if m.Kind == "" {
		r.found.fault(CodeNoKind, src.position("kind"), m.subject(),
			"the object has no kind, so catalog tools leave it out with no more than a warning", "state its apiVersion and kind")
		return
	}
	if strings.Count(m.APIVersion, "/") > 1 {
		r.found.fault(CodeNoKind, src.position("apiVersion"), m.subject(),
			fmt.Sprintf("%q is not an apiVersion, so catalog tools cannot tell the kind and leave the object out", m.APIVersion),
			"write it as group/version")
		return
	}
	if m.Kind == kindCSV && r.b.CSV != nil {
		r.found.fault(CodeSecondCSV, m.Position, m.subject(),
			"a bundle has one ClusterServiceVersion, and this one is ignored in favor of that of "+r.b.CSV.Position().String(), "delete one of the two")
		return
	}
	m.JSON = doc.AppendCanonical(make([]byte, 0, len(src.doc.JSON)), src.tree, doc.NumbersOfObject)
	r.b.Manifests = append(r.b.Manifests, m)
	if v := src.tree.Get("apiVersion"); !v.Null() && v.Kind != '"' {
		f := r.found.fault(catalog.CodeType, src.at(v), m.subject(), "apiVersion is "+v.Describe()+", not a string", "write it as in v1 or group/v1")
		f.stops = m.Kind == kindCSV || m.Kind == kindCRD
	}
	switch m.Kind {
	case kindCSV:
		r.csv(m)
	case kindCRD:
		r.crd(m)
	}
}

// rendered matches the paths in a CSV that the reference decodes to render a
// bundle: a wrong type there makes it fail.
var rendered = regexp.MustCompile(`(?i)^(metadata.*|spec|spec\.(version|relatedImages.*|install|install\.(strategy|spec)|install\.spec\.deployments.*` +
	`|(customresource|apiservice)definitions(\.(owned|required)(\[\d+\](\.(group|kind|name|version))?)?)?))$`)

func (r *reader) csv(m *Manifest) {
	csv := &CSV{manifest: m}
	r.b.CSV = csv
	// Text that is passed on as it stands has to be in canonical form, so the
	// CSV is decoded from that.
	for _, fault := range append(doc.Decode(doc.Tree(m.JSON), csv, doc.Exact), deploymentFaults(m.src.tree)...) {
		f := r.found.mismatch(m.src, m.subject(), fault)
		f.stops = rendered.MatchString(fault.Path())
		csv.faults = append(csv.faults, f.Diagnostic)
	}
	if m.src.tree.Get("spec").Null() {
		r.found.fault(CodeCSVField, m.Position, m.subject(), "the object has no spec", "describe the operator in spec").stops = true
	}
	if _, fault := releaseText(csv.Spec.Release); fault != "" {
		r.found.fault(CodeCSVRelease, m.At("spec", "release"), m.subject(), "spec.release "+fault, "write it in quotes, as in \"1\"").stops = true
	}
}

func (r *reader) crd(m *Manifest) {
	version := m.APIVersion[strings.LastIndexByte(m.APIVersion, '/')+1:]
	if version != "v1" && version != "v1beta1" {
		r.found.fault(CodeCRD, m.At("apiVersion"), m.subject(),
			fmt.Sprintf("%q is not a version of CustomResourceDefinitions, so its APIs do not count as provided", m.APIVersion),
			"write apiextensions.k8s.io/v1")
		return
	}
	crd := &CRD{manifest: m}
	for _, fault := range append(doc.Decode(m.src.tree, crd, doc.Exact), schemaFaults(m.src.tree)...) {
		r.found.mismatch(m.src, m.subject(), fault).stops = fault.Want != ""
	}
	r.b.CRDs = append(r.b.CRDs, crd)
}
