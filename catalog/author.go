package catalog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
)

// PackageTemplate is what an author says of a new package.
type PackageTemplate struct {
	Name           string // a DNS label
	DefaultChannel string // may be empty, but has to be set before the catalog is valid
	Description    string // text, mostly Markdown; may be empty
	Icon           []byte // an SVG, PNG, JPEG, GIF or WebP image; may be nil
}

// NewPackage returns the olm.package document, as JSON, that begins a package.
// The media type of the icon is found from its content.
func NewPackage(p PackageTemplate) ([]byte, error) {
	if why, hint := labelProblem(p.Name); why != "" {
		return nil, fmt.Errorf("catalog: package name %q is no DNS-1123 label: %s: %s", p.Name, why, hint)
	}
	type icon struct {
		Data      string `json:"base64data"`
		MediaType string `json:"mediatype"`
	}
	document := struct {
		Schema         string `json:"schema"`
		Name           string `json:"name"`
		DefaultChannel string `json:"defaultChannel"`
		Icon           *icon  `json:"icon,omitempty"`
		Description    string `json:"description,omitempty"`
	}{Schema: SchemaPackage, Name: p.Name, DefaultChannel: p.DefaultChannel, Description: p.Description}
	if p.Icon != nil {
		mediaType := imageType(p.Icon)
		if mediaType == "" {
			return nil, fmt.Errorf("catalog: package %q: the icon is no SVG, PNG, JPEG, GIF or WebP image: use one of those", p.Name)
		}
		document.Icon = &icon{base64.StdEncoding.EncodeToString(p.Icon), mediaType}
	}
	var out bytes.Buffer
	if err := writeIndented(&out, document); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// ImageTemplate is what the Dockerfile of a catalog image is made of.
type ImageTemplate struct {
	Directory string // of the catalog, beside the Dockerfile
	Base      string // image with opm that serves the catalog; empty means the upstream one
	Builder   string // image with opm that builds the cache; empty means Base
}

// ConfigsLabel is the label by which an image says where in it the catalog
// lies.
const ConfigsLabel = "operators.operatorframework.io.index.configs.v1"

const upstreamImage = "quay.io/operator-framework/opm:latest"

const dockerfile = `# The cache is made when the image is built, so that serving starts at once.
FROM {{.Builder}} AS builder
COPY {{.Source}}
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM {{.Base}}
COPY --from=builder /configs /configs
COPY --from=builder /tmp/cache /tmp/cache
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]

# Tools find the catalog in the image by this label.
LABEL {{.Label}}=/configs
`

// Dockerfile returns a Dockerfile for an image that serves a catalog.
func Dockerfile(t ImageTemplate) ([]byte, error) {
	if t.Directory == "" || t.Directory == "." || t.Directory == ".." || strings.ContainsAny(t.Directory, "/\\\n\r") {
		return nil, fmt.Errorf("catalog: %q is no name of a directory beside the Dockerfile", t.Directory)
	}
	if t.Base == "" {
		t.Base = upstreamImage
	}
	if t.Builder == "" {
		t.Builder = t.Base
	}
	for _, image := range []string{t.Base, t.Builder} {
		if _, err := ParseImageRef(image); err != nil {
			return nil, fmt.Errorf("catalog: %w", err)
		}
	}
	source, err := json.Marshal([]string{t.Directory, "/configs"})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = template.Must(template.New("Dockerfile").Parse(dockerfile)).Execute(&out, struct{ Builder, Base, Source, Label string }{
		t.Builder, t.Base, string(source), ConfigsLabel,
	})
	return out.Bytes(), err
}
