package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/fairlead/fairlead/catalog"
)

// ImageTemplate holds the parameters of the Dockerfile of a catalog image.
type ImageTemplate struct {
	Directory string // of the catalog, beside the Dockerfile
	Base      string // image with opm that serves the catalog; empty means the upstream one
	Builder   string // image with opm that builds the cache; empty means Base
}

// ConfigsLabel is the image label that names the directory of the catalog.
const ConfigsLabel = "operators.operatorframework.io.index.configs.v1"

const upstreamImage = "quay.io/operator-framework/opm:latest"

const dockerfile = `# The cache is built with the image, so that serving starts at once.
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
		return nil, fmt.Errorf("source: %q is not the name of a directory beside the Dockerfile", t.Directory)
	}
	if t.Base == "" {
		t.Base = upstreamImage
	}
	if t.Builder == "" {
		t.Builder = t.Base
	}
	for _, image := range []string{t.Base, t.Builder} {
		if _, err := catalog.ParseImageRef(image); err != nil {
			return nil, fmt.Errorf("source: %w", err)
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
