package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// Generated is what turns a directory of manifests into an image.
type Generated struct {
	Annotations []byte // of metadata/annotations.yaml
	Dockerfile  []byte // to be built in the directory above manifests and metadata
}

// GenerateOptions say which package and channels a bundle belongs to.
type GenerateOptions struct {
	Package        string   // its name; required
	Channels       []string // at least one
	DefaultChannel string   // "" means the first in lexical order
}

// Generate returns the annotations and the Dockerfile of a registry+v1 bundle
// whose manifests lie in the directory manifests.
func Generate(o GenerateOptions) (*Generated, error) {
	switch {
	case o.Package == "":
		return nil, errors.New("bundle: generate: the name of the package is missing")
	case len(o.Channels) == 0:
		return nil, errors.New("bundle: generate: name at least one channel")
	case o.DefaultChannel != "" && !slices.Contains(o.Channels, o.DefaultChannel):
		return nil, fmt.Errorf("bundle: generate: the default channel %q is not one of the bundle's channels %s", o.DefaultChannel, strings.Join(o.Channels, ", "))
	}
	for _, name := range append([]string{o.Package}, o.Channels...) {
		if name == "" || strings.ContainsAny(name, ", \t\r\n\"\\$") {
			return nil, fmt.Errorf("bundle: generate: %q cannot be in the label of an image: leave out spaces, commas, quotes, backslashes and dollar signs", name)
		}
	}
	labels := [][2]string{
		{AnnotationMediaType, "registry+v1"},
		{AnnotationManifests, "manifests/"},
		{AnnotationMetadata, "metadata/"},
		{AnnotationPackage, o.Package},
		{AnnotationChannels, strings.Join(o.Channels, ",")},
	}
	if o.DefaultChannel != "" {
		labels = append(labels, [2]string{AnnotationDefaultChannel, o.DefaultChannel})
	}
	object := []byte(`{"annotations": {`)
	var file bytes.Buffer
	file.WriteString("FROM scratch\n\n")
	for i, l := range labels {
		if i > 0 {
			object = append(object, ',')
		}
		object = append(append(doc.AppendText(object, l[0]), ':'), doc.AppendText(nil, l[1])...)
		fmt.Fprintf(&file, "LABEL %s=%s\n", l[0], l[1])
	}
	annotations, err := catalog.YAML(append(object, "}}"...))
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"manifests", "metadata"} {
		fmt.Fprintf(&file, "\nCOPY %s %s", dir, path.Join("/", dir)+"/")
	}
	file.WriteByte('\n')
	return &Generated{annotations, file.Bytes()}, nil
}
