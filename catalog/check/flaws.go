package check

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/csv"
	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
)

// bundleFlaws are the faults of one bundle document that only its text shows:
// the index does not keep payloads and related images.
type bundleFlaws struct {
	objects    []flaw // of olm.bundle.object payloads, which opm meets while it loads
	properties []flaw // values of the wrong form
	images     []flaw // malformed references
}

// flaw is one fault in a document's text.
type flaw struct {
	code    catalog.Code
	pos     catalog.Position
	message string
	hint    string
	opm     string // what opm says
}

// noFlaws are those of every good bundle.
var noFlaws = &bundleFlaws{}

// bundleChecker finds the flaws of bundles, one after the other.
type bundleChecker struct {
	forms map[string]*shape.Shape
	doc   *doc.Document // the document at hand
	found bundleFlaws
}

func newBundleChecker() *bundleChecker { return &bundleChecker{forms: shape.Properties()} }

// check returns the flaws of the bundle document d.
func (k *bundleChecker) check(d *doc.Document) *bundleFlaws {
	k.doc, k.found = d, bundleFlaws{}
	if list, ok := d.Field(d.Root(), "properties"); ok {
		i := 0
		for n := range d.Children(list) {
			k.property(i, n)
			i++
		}
	}
	if n, ok := d.Field(d.Root(), "image"); ok {
		k.image(n, "image")
	}
	if list, ok := d.Field(d.Root(), "relatedImages"); ok {
		i := 0
		for n := range d.Children(list) {
			if image, ok := d.Field(d.Children(n), "image"); ok {
				k.image(image, fmt.Sprintf("relatedImages[%d].image", i))
			}
			i++
		}
	}
	if len(k.found.objects)+len(k.found.properties)+len(k.found.images) == 0 {
		return noFlaws
	}
	found := k.found
	return &found
}

// property checks that the value of property i has the form that its type
// requires.
func (k *bundleChecker) property(i int, n doc.Node) {
	d := k.doc
	name, v := shape.Property(d, n)
	typ := string(name)
	if v.End == 0 {
		k.malformed(i, n, 0, typ, "it has no value", "add a value, or remove the property", "unexpected end of JSON input")
		return
	}
	want := k.forms[typ]
	if want == nil {
		return
	}
	if value := d.Value(v); !want.Conforms(value) {
		if tree := doc.Tree(value); tree == nil {
			k.malformed(i, v, 0, typ, "it is nested too deep", "flatten the value", "exceeded max depth")
			return
		} else if bad := want.Mismatch(tree); bad != nil {
			k.malformed(i, v, bad.At.Offset, typ, bad.String(), bad.Hint(), bad.OPM())
			return
		}
	}
	if typ == catalog.PropertyBundleObject {
		k.object(i, v)
	}
}

// malformed reports a fault at an offset in the value of n.
func (k *bundleChecker) malformed(i int, n doc.Node, offset int, typ, message, hint, opm string) {
	f := flaw{
		code: CodeProperty, pos: k.doc.Position(n.Start + offset), hint: hint,
		message: fmt.Sprintf("properties[%d] of type %q is malformed: %s", i, typ, message),
		opm:     fmt.Sprintf("parse property[%d] of type %q: %s", i, typ, opm),
	}
	if typ == catalog.PropertyBundleObject {
		f.opm = fmt.Sprintf("parse property at index %d as bundle object: %s", i, opm)
		k.found.objects = append(k.found.objects, f)
		return
	}
	k.found.properties = append(k.found.properties, f)
}

// object checks that the payload of an olm.bundle.object is YAML, unless it
// begins like JSON, which opm does not check.
func (k *bundleChecker) object(i int, n doc.Node) {
	var value struct {
		Data []byte `json:"data"`
	}
	if !fits(k.doc.Value(n), &value) {
		return
	}
	if data := bytes.TrimSpace(value.Data); len(data) == 0 || data[0] == '{' {
		return
	}
	_, fault := csv.ParseManifest(value.Data)
	if fault == nil || fault.Kind != doc.Syntax && fault.Kind != doc.Encoding {
		return
	}
	k.found.objects = append(k.found.objects, flaw{
		code: CodeProperty, pos: k.doc.Position(n.Start),
		message: fmt.Sprintf("properties[%d] of type %q holds no manifest: %s", i, catalog.PropertyBundleObject, fault.Message),
		hint:    "encode the manifest again",
		opm:     fmt.Sprintf("convert bundle object property at index %d to JSON: %s", i, fault.Message),
	})
}

// image checks a reference, unless it is empty.
func (k *bundleChecker) image(n doc.Node, field string) {
	text, _ := k.doc.Text(n)
	if len(text) == 0 {
		return
	}
	_, err := catalog.ParseImageRef(string(text))
	var bad *catalog.ImageRefError
	if errors.As(err, &bad) {
		k.found.images = append(k.found.images, flaw{
			code: CodeImage, pos: k.doc.Position(n.Start),
			message: fmt.Sprintf("%s %q is not an image reference: %s", field, text, bad.Reason),
			hint:    bad.Hint,
			opm:     fmt.Sprintf("%s: invalid image pull spec %q: %s", field, text, bad.OPM),
		})
	}
}

// fits reports whether value decodes into v.
func fits(value []byte, v any) bool {
	_, err := doc.Unmarshal(value, v)
	return err == nil
}
