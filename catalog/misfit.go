package catalog

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// csvMetadataForm is what an olm.csv.metadata property may be. The names are
// those of opm's types.
func csvMetadataForm() *form {
	lists := map[string]*form{"resources": eachOf(fieldsOf("v1alpha1.APIResourceReference", "name kind version", nil))}
	for field, name := range map[string]string{"statusDescriptors": "StatusDescriptor", "specDescriptors": "SpecDescriptor", "actionDescriptors": "ActionDescriptor"} {
		lists[field] = eachOf(fieldsOf("v1alpha1."+name, "path displayName description", map[string]*form{"x-descriptors": eachOf(textual)}))
	}
	crds := eachOf(fieldsOf("v1alpha1.CRDDescription", "name version kind displayName description", lists))
	api := fieldsOf("v1alpha1.APIServiceDescription", "name group version kind deploymentName displayName description", lists)
	api.fields["containerPort"] = &form{kind: intForm, name: "int32"}
	apis := eachOf(api)
	mode := fieldsOf("v1alpha1.InstallMode", "", map[string]*form{
		"type": {kind: stringForm, name: "v1alpha1.InstallModeType"}, "supported": {kind: boolForm, name: "bool"},
	})
	link := fieldsOf("v1alpha1.AppLink", "name url", nil)
	return fieldsOf("property.CSVMetadata", "description displayName maturity minKubeVersion", map[string]*form{
		"annotations":           valuesOf(textual),
		"labels":                valuesOf(textual),
		"apiServiceDefinitions": fieldsOf("v1alpha1.APIServiceDefinitions", "", map[string]*form{"owned": apis, "required": apis}),
		"crdDescriptions":       fieldsOf("v1alpha1.CustomResourceDefinitions", "", map[string]*form{"owned": crds, "required": crds}),
		"installModes":          eachOf(mode),
		"keywords":              eachOf(textual),
		"links":                 eachOf(link),
		"maintainers":           eachOf(fieldsOf("v1alpha1.Maintainer", "name email", nil)),
		"nativeAPIs":            eachOf(fieldsOf("v1.GroupVersionKind", "group version kind", nil)),
		"provider":              link,
	})
}

// propertyForms are the property types whose value has a form, by type.
func propertyForms() map[string]*form {
	return map[string]*form{
		PropertyPackage:         fieldsOf("property.Package", "packageName version release", nil),
		PropertyPackageRequired: fieldsOf("property.PackageRequired", "packageName versionRange", nil),
		PropertyGVK:             fieldsOf("property.GVK", "group version kind", nil),
		PropertyGVKRequired:     fieldsOf("property.GVKRequired", "group version kind", nil),
		PropertyBundleObject:    fieldsOf("property.BundleObject", "", map[string]*form{"data": {kind: base64Form, name: "[]uint8"}}),
		"olm.channel":           fieldsOf("property.Channel", "channelName", map[string]*form{"priority": {kind: intForm, name: "int"}}),
		PropertyCSVMetadata:     csvMetadataForm(),
	}
}

// misfit is a part of a value that is not of its form.
type misfit struct {
	at     *doc.Value
	path   []string // names of the fields that lead to it
	want   *form
	within string // the innermost type around it, "" if there is none
	text   string // a fault that is not one of type
}

// misfit returns the part of a value that opm finds at fault, nil if it takes
// the value. opm writes objects anew with their members sorted before it
// decodes them, and reports the first.
func (f *form) misfit(v *doc.Value) *misfit {
	return f.find(v, &misfit{})
}

func (f *form) find(v *doc.Value, m *misfit) *misfit {
	here := &misfit{at: v, path: m.path, want: f, within: m.within}
	if f.kind == anyForm || v.Kind == 'n' {
		return nil
	}
	if v.Kind != f.kind.begins() && !(f.kind == boolForm && v.Kind == 'f') {
		return here
	}
	switch f.kind {
	case base64Form:
		text, _ := v.Text()
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			here.text = err.Error()
			return here
		}
	case intForm:
		bits := 64
		if f.name == "int32" {
			bits = 32
		}
		if _, err := strconv.ParseInt(plainNumber(v.Raw), 10, bits); err != nil {
			return here
		}
	case listForm:
		for i := range v.Members {
			if bad := f.elem.find(&v.Members[i], m); bad != nil {
				return bad
			}
		}
	case mapForm, objectForm:
		return f.findMember(v, m)
	}
	return nil
}

func (f *form) findMember(v *doc.Value, m *misfit) *misfit {
	members := make([]*doc.Value, len(v.Members))
	for i := range v.Members {
		members[i] = &v.Members[i]
	}
	slices.SortFunc(members, func(a, b *doc.Value) int { return cmp.Compare(a.Key, b.Key) })
	for _, c := range members {
		elem, inner := f.elem, m
		if f.kind == objectForm {
			name, field := f.field(c.Key)
			_, within, _ := strings.Cut(f.name, ".")
			elem, inner = field, &misfit{path: append(slices.Clone(m.path), name), within: within}
		}
		if bad := elem.find(c, inner); bad != nil {
			return bad
		}
	}
	return nil
}

// field returns the field that a key means, and its name as it is spelt.
func (f *form) field(key string) (string, *form) {
	if field := f.fields[key]; field != nil {
		return key, field
	}
	for name, field := range f.fields {
		if strings.EqualFold(name, key) {
			return name, field
		}
	}
	return key, anyValue
}

// plainNumber returns a number as opm writes it: the shortest form of the
// float64 that it is.
func plainNumber(raw []byte) string {
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return string(raw)
	}
	if n != 0 && (n < 1e-6 && n > -1e-6 || n >= 1e21 || n <= -1e21) {
		return strconv.FormatFloat(n, 'e', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// goName returns the name of opm's type of this form.
func (f *form) goName() string {
	switch f.kind {
	case listForm:
		return "[]" + f.elem.goName()
	case mapForm:
		return "map[string]" + f.elem.goName()
	case stringForm:
		return cmp.Or(f.name, "string")
	}
	return f.name
}

// opm returns the words of the decoder that opm uses.
func (m *misfit) opm() string {
	if m.text != "" {
		return m.text
	}
	got := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "bool", 'f': "bool"}[m.at.Kind]
	if got == "" {
		got = "number"
		if m.want.kind == intForm {
			got += " " + plainNumber(m.at.Raw)
		}
	}
	if m.within == "" {
		return fmt.Sprintf("json: cannot unmarshal %s into Go value of type %s", got, m.want.goName())
	}
	return fmt.Sprintf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", got, m.within, strings.Join(m.path, "."), m.want.goName())
}

// String returns our words.
func (m *misfit) String() string {
	what := strings.Join(m.path, ".")
	if m.text != "" {
		return what + ": " + m.text
	}
	want := kindName(m.want.kind.begins())
	if m.want.kind == intForm {
		want = "a whole number"
	}
	return strings.TrimSpace(fmt.Sprintf("%s is %s where %s belongs", cmp.Or(what, "it"), kindName(m.at.Kind), want))
}

// hint says how to mend it.
func (m *misfit) hint() string {
	switch {
	case m.text != "":
		return "encode the manifest anew, in base64"
	case m.want.kind == stringForm && m.at.Kind != '{' && m.at.Kind != '[':
		return "write " + strconv.Quote(string(m.at.Raw)) + ", in quotes"
	}
	return "correct the value"
}

// begins returns the kind of JSON value that has this form.
func (k formKind) begins() byte {
	switch k {
	case stringForm, base64Form:
		return '"'
	case listForm:
		return '['
	case mapForm, objectForm:
		return '{'
	case boolForm:
		return 't'
	}
	return '0'
}
