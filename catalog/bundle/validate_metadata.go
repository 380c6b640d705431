package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// The media types of bundles.
const (
	mediaRegistry = "registry+v1"
	mediaHelm     = "helm"
	mediaPlain    = "plain"
)

// mediaType guesses the media type of the manifests.
func (b *Bundle) mediaType() string {
	for _, f := range b.files {
		if f.name == "manifests/Chart.yaml" && f.chart {
			return mediaHelm
		}
	}
	if b.CSV != nil {
		return mediaRegistry
	}
	return mediaPlain
}

// annotations checks the annotations of the bundle.
func (c *checker) annotations() {
	a := &c.b.Annotations
	if a.src == nil {
		return
	}
	fault := func(code catalog.Code, key, message, hint string) *finding {
		return c.found.fault(code, a.At(key), c.b.subject(), message, hint)
	}
	for _, key := range []string{AnnotationMediaType, AnnotationManifests, AnnotationMetadata, AnnotationPackage, AnnotationChannels} {
		if _, ok := a.values[key]; !ok {
			// A bundle without a package is lost on its way into a catalog.
			fault(CodeAnnotation, key, "the annotation "+key+" is missing", "add it"+usual(key)).stops = key == AnnotationPackage
		}
	}
	// A missing CSV has already been reported.
	if got, ok := a.values[AnnotationMediaType]; ok && got != c.b.mediaType() && (c.b.mediaType() != mediaPlain || got != mediaRegistry) {
		fault(CodeMediaType, AnnotationMediaType, fmt.Sprintf("the annotated media type is %q, but that of the manifests is %q", got, c.b.mediaType()),
			"write "+AnnotationMediaType+": "+c.b.mediaType())
	}
	for key, want := range map[string]string{AnnotationManifests: "manifests/", AnnotationMetadata: "metadata/"} {
		if got := a.values[key]; got != "" && strings.TrimSuffix(got, "/") != strings.TrimSuffix(want, "/") {
			fault(CodeAnnotation, key, fmt.Sprintf("the annotated directory is %q, but tools always read %s", got, want), "write "+want).lint = true
		}
	}
	if pkg, ok := a.values[AnnotationPackage]; ok {
		if why := labelFault(pkg, false); why != "" {
			fault(CodeAnnotation, AnnotationPackage, fmt.Sprintf("%q cannot name a package: %s", pkg, why),
				"write a name of lower-case letters, digits and hyphens").stops = pkg == ""
		}
	}
	c.channels(fault)
}

// usual returns the value that an annotation usually has.
func usual(key string) string {
	switch key {
	case AnnotationMediaType:
		return ": " + mediaRegistry
	case AnnotationManifests:
		return ": manifests/"
	case AnnotationMetadata:
		return ": metadata/"
	case AnnotationPackage:
		return " with the name of the package"
	}
	return " with the channels of the bundle, separated by commas"
}

func (c *checker) channels(fault func(code catalog.Code, key, message, hint string) *finding) {
	a := &c.b.Annotations
	list, listed := a.values[AnnotationChannels]
	if listed && list == "" {
		fault(CodeChannel, AnnotationChannels, "the list of channels is empty", "name at least one channel")
	}
	channels := c.b.Channels()
	for i, name := range channels {
		switch {
		case strings.TrimSpace(name) == "":
			fault(CodeChannel, AnnotationChannels, fmt.Sprintf("channel %d of %q has no name", i+1, list), "delete the extra comma")
		case strings.TrimSpace(name) != name:
			fault(CodeChannel, AnnotationChannels, fmt.Sprintf("the channel name %q has white space around it, which tools keep", name),
				"separate channels only by commas")
		case slices.Contains(channels[:i], name):
			fault(CodeChannel, AnnotationChannels, fmt.Sprintf("channel %q is listed twice", name), "delete one").lint = true
		}
	}
	name, named := a.values[AnnotationDefaultChannel]
	switch {
	case named && name == "":
		fault(CodeChannel, AnnotationDefaultChannel, "the annotated default channel is empty", "name it, or delete the annotation")
	case named && listed && !slices.Contains(channels, name):
		// Other bundles may be in it, so only what looks like a mistake is reported.
		if nearest := words.Nearest(name, channels); nearest != "" {
			fault(CodeChannel, AnnotationDefaultChannel, fmt.Sprintf("the default channel %q is not one of the bundle's channels", name), "did you mean "+nearest+"?").lint = true
		}
	}
}

// dependencyTypes are the types of dependencies that bundles may have.
var dependencyTypes = []string{catalog.PropertyGVK, catalog.PropertyPackage, propertyLabel, catalog.PropertyConstraint}

func (c *checker) dependencies() {
	for _, p := range c.b.Dependencies {
		at := &claim{c, p, CodeDependency, "dependency"}
		switch p.Type {
		case catalog.PropertyGVK:
			at.gvk(true)
		case catalog.PropertyPackage:
			at.packageRequired("version")
		case propertyLabel:
			var v struct {
				Label string `json:"label"`
			}
			if at.decode(&v, false) && v.Label == "" {
				at.fault("no label is named", "write label: below value:", "label")
			}
		case catalog.PropertyConstraint:
			at.constraint()
		default:
			at.unknownType()
		}
	}
}

// properties checks the properties in properties.yaml.
func (c *checker) properties() {
	maxes := 0
	for _, p := range c.b.Properties {
		at := &claim{c, p, CodeProperty, "property"}
		switch p.Type {
		case "":
			at.fault("the property has no type", "write type: and value:")
		case catalog.PropertyGVK, catalog.PropertyGVKRequired:
			at.gvk(p.Type == catalog.PropertyGVK)
		case catalog.PropertyPackageRequired:
			at.packageRequired("versionRange")
		case catalog.PropertyConstraint:
			at.constraint()
		case catalog.PropertyPackage:
			at.packageProperty()
		case catalog.PropertyMaxOpenShift:
			if maxes++; maxes > 1 {
				at.fault("the last OpenShift version is stated twice", "state it once")
			}
			at.maxOpenShift()
		case catalog.PropertyBundleObject, catalog.PropertyCSVMetadata:
			at.fault("rendering generates this property", "delete it here").lint = true
		default:
			if p.value == nil {
				at.fault("the property has no value", "write value: below type:")
			}
		}
	}
}

// annotatedProperties checks the properties in the CSV's annotation olm.properties.
func (c *checker) annotatedProperties() {
	path := []any{"metadata", "annotations", annotationProperties}
	props, fault := c.b.annotated()
	if fault != "" {
		c.csvFault(CodeProperty, "the annotation "+annotationProperties+" is not a JSON list of properties, and tools silently drop it: "+fault,
			`write it as in [{"type":"...","value":...}], or better in metadata/properties.yaml`, path...)
		return
	}
	if props != nil {
		c.csvAdvice(CodeProperty, "properties are in the annotation "+annotationProperties, "move them to metadata/properties.yaml", path...)
	}
	for i, p := range props {
		stops := false
		switch p.Type {
		case catalog.PropertyPackage:
			var v packageProperty
			stops = json.Unmarshal(p.Value, &v) != nil
			if own := c.b.Package(); !stops && own != "" && (v.PackageName != own || v.Version != c.b.Version()) {
				c.disagree(c.b.CSV.manifest.At(path...), v)
			}
		case catalog.PropertyGVK:
			stops = json.Unmarshal(p.Value, new(gvkProperty)) != nil
		}
		if stops {
			c.csvFault(CodeProperty, fmt.Sprintf("property %d of the annotation, of type %q, has a value of the wrong form", i, p.Type),
				"write a value that is valid for the type", path...).stops = true
		}
	}
}

// disagree reports an olm.package property that does not match the bundle.
func (c *checker) disagree(pos catalog.Position, v packageProperty) {
	c.found.fault(CodePropertyPackage, pos, c.b.subject(),
		fmt.Sprintf("the property states package %q version %q, and the annotations and the CSV package %q version %q; catalog tools believe the last one they read",
			v.PackageName, v.Version, c.b.Package(), c.b.Version()),
		"delete the property: it follows from annotations and CSV")
}

// truths reports words that YAML 1.1 reads as booleans.
func (c *checker) truths() {
	for _, f := range c.b.files {
		for _, w := range f.truths {
			c.found.advice(CodeTruth, w.Pos, "", fmt.Sprintf("Kubernetes' tools read %s as a boolean, others as the string %q", w.Word, w.Word),
				fmt.Sprintf("write true or false, or put it in quotes: %q", w.Word))
		}
	}
}

// claim is one property or dependency that is being checked.
type claim struct {
	c    *checker
	p    Property
	code catalog.Code
	noun string // what it is
}

func (cl *claim) fault(message, hint string, path ...any) *finding {
	pos := cl.p.Position
	if cl.p.value != nil {
		pos = cl.p.src.at(cl.p.value.At(path...))
	}
	return cl.c.found.fault(cl.code, pos, cl.c.b.subject(), fmt.Sprintf("%s of type %q: %s", cl.noun, cl.p.Type, message), hint)
}

// decode decodes the value into v. If stops is set, what does not fit keeps the
// reference from rendering the bundle.
func (cl *claim) decode(v any, stops bool) bool {
	if cl.p.value == nil {
		cl.fault("it has no value", "write value: below type:").stops = stops
		return false
	}
	faults := doc.Decode(cl.p.value, v, 0)
	for _, m := range faults {
		steps := m.Steps
		m.Steps = append([]any{"value"}, steps...)
		cl.fault(m.Error(), m.Hint(), steps...).stops = stops
	}
	return len(faults) == 0
}

func (cl *claim) gvk(stops bool) {
	var v gvkProperty
	if !cl.decode(&v, stops) {
		return
	}
	for _, part := range []struct{ name, value string }{{"group", v.Group}, {"version", v.Version}, {"kind", v.Kind}} {
		if part.value == "" {
			cl.fault("the API has no "+part.name, "write "+part.name+": below value:", part.name)
		}
	}
}

// packageRequired checks a dependency on a package. field is the name of its range:
// version in a dependency, versionRange in a property.
func (cl *claim) packageRequired(field string) {
	var v struct {
		PackageName  string `json:"packageName"`
		Version      string `json:"version"`
		VersionRange string `json:"versionRange"`
	}
	if !cl.decode(&v, field == "version") {
		return
	}
	if v.PackageName == "" {
		cl.fault("no package is named", "write packageName: below value:", "packageName")
	}
	text, other, otherField := v.Version, v.VersionRange, "versionRange"
	if field == "versionRange" {
		text, other, otherField = v.VersionRange, v.Version, "version"
	}
	switch {
	case text == "" && other != "":
		cl.fault("the range of versions is in "+otherField+", which has no effect here", "rename it "+field, otherField)
	case text == "":
		cl.fault("no range of versions is given", "write "+field+`: below value:, as in ">=1.0.0"`, field)
	default:
		cl.versions(text, field)
	}
}

// versions checks the range of versions at a path of the value.
func (cl *claim) versions(text string, path ...any) {
	r, err := semverx.ParseRange(text)
	if err != nil {
		message, hint := err.Error(), "write it as in \">=1.2.0 <2.0.0\""
		if bad := (*semverx.RangeError)(nil); errors.As(err, &bad) {
			message = fmt.Sprintf("%q is not a range of versions: %s", text, bad.Reason)
			if bad.Hint != "" {
				hint = bad.Hint
			}
		}
		cl.fault(message, hint, path...).Code = CodeDependencyRange
		return
	}
	for _, lint := range r.Lints() {
		f := cl.fault(fmt.Sprintf("the range %q: %s", text, lint), "write the range that you mean", path...)
		f.Code, f.lint = CodeDependencyRange, true
	}
}

func (cl *claim) unknownType() {
	if cl.p.Type == "" {
		cl.fault("the dependency has no type", "write type: and value:")
		return
	}
	hint := "use one of " + strings.Join(dependencyTypes, ", ") + "; anything else belongs in properties.yaml"
	if nearest := words.Nearest(cl.p.Type, dependencyTypes); nearest != "" {
		hint = "did you mean " + nearest + "?"
	}
	cl.fault("there is no such dependency type", hint)
}

func (cl *claim) packageProperty() {
	var v packageProperty
	if !cl.decode(&v, true) {
		return
	}
	if own := cl.c.b.Package(); own != "" && (v.PackageName != own || v.Version != cl.c.b.Version()) {
		cl.c.disagree(cl.p.src.at(cl.p.value), v)
	}
}

// maxOpenShift checks the last version of OpenShift that a bundle is for.
func (cl *claim) maxOpenShift() {
	text, ok := cl.p.value.Text()
	if !ok {
		hint := `write it in quotes, as in "4.15"`
		if cl.p.value != nil && cl.p.value.Kind == '0' {
			hint = fmt.Sprintf("put it in quotes, %q: as a number 4.10 is 4.1", cl.p.value.Raw)
		}
		cl.fault("the version of OpenShift is not a string", hint)
		return
	}
	v, err := semverx.ParseTolerant(text)
	if err != nil {
		cl.fault(fmt.Sprintf("%q is not a version of OpenShift", text), `write major and minor, as in "4.15"`)
	} else if strings.Count(text, ".") != 1 || strings.HasPrefix(text, "v") {
		cl.fault(fmt.Sprintf("only the major and minor version of %q count", text), fmt.Sprintf("write \"%d.%d\"", v.Major(), v.Minor())).lint = true
	}
}
