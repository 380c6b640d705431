package bundle

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// kinds are the kinds of objects that a registry+v1 bundle may hold.
var kinds = []string{
	kindCSV, kindCRD, "ClusterRole", "ClusterRoleBinding", "ConfigMap", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin",
	"ConsoleQuickStart", "ConsoleYAMLSample", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor", "PriorityClass",
	"PrometheusRule", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount", "ServiceMonitor", "VerticalPodAutoscaler",
}

// objects checks every manifest: its kind and its metadata.
func (c *checker) objects() {
	for _, m := range c.b.Manifests {
		if !slices.Contains(kinds, m.Kind) && c.b.mediaType() == mediaRegistry {
			c.found.fault(CodeUnsupported, m.At("kind"), m.subject(), "bundles must not hold objects of the kind "+m.Kind, kindHint(m.Kind))
		}
		if m.Kind == kindCSV {
			continue
		}
		var meta struct {
			Metadata Metadata `json:"metadata"`
		}
		for _, fault := range doc.Decode(m.src.tree, &meta, 0) {
			if m.Kind != kindCRD { // reported by Read
				c.found.mismatch(m.src, m.subject(), fault)
			}
		}
		c.metadata(m, &meta.Metadata)
	}
}

func kindHint(kind string) string {
	if kind == "CredentialsRequest" {
		return "let the operator create it once it runs"
	}
	if nearest := words.Nearest(kind, kinds); nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return "let the operator create it once it runs, or leave it to the user"
}

// metadata checks metadata as an API server does.
func (c *checker) metadata(m *Manifest, meta *Metadata) {
	fault := func(message, hint string, path ...any) {
		path = append([]any{"metadata"}, path...)
		c.found.fault(CodeObjectMetadata, m.At(path...), m.subject(), message, hint)
	}
	if generate, _ := m.src.tree.Get("metadata", "generateName").Text(); meta.Name == "" && generate == "" {
		fault("the object has no name", "write metadata.name", "name")
	}
	if meta.Namespace != "" {
		fault(fmt.Sprintf("the object has the namespace %q, but a bundle's objects go into the operator's namespace", meta.Namespace), "delete metadata.namespace", "namespace")
	}
	for _, key := range slices.Sorted(maps.Keys(meta.Labels)) {
		if why := qualifiedFault(key); why != "" {
			fault(fmt.Sprintf("%q cannot name a label: %s", key, why), "write it as in example.com/name", "labels", key)
		}
		if why := labelValueFault(meta.Labels[key]); why != "" {
			fault(fmt.Sprintf("the label %s cannot have the value %q: %s", key, meta.Labels[key], why), "shorten or rename it", "labels", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(meta.Annotations)) {
		if why := qualifiedFault(strings.ToLower(key)); why != "" {
			fault(fmt.Sprintf("%q cannot name an annotation: %s", key, why), "write it as in example.com/name", "annotations", key)
		}
	}
}

// accounts checks that no service account is created twice.
func (c *checker) accounts() {
	if c.b.CSV == nil {
		return
	}
	for _, m := range c.b.Manifests {
		if m.Kind != "ServiceAccount" || m.APIVersion != "v1" {
			continue
		}
		for _, d := range c.b.CSV.Spec.Install.Spec.Deployments {
			if name := d.Spec.Template.Spec.ServiceAccount; name != "" && name == m.Name {
				c.found.fault(CodeServiceAccount, m.Position, m.subject(),
					fmt.Sprintf("deployment %q of the CSV runs under this service account, which OLM creates", d.Name),
					"delete the manifest, or rename one of the two")
				break
			}
		}
	}
}

// maxPacked is the size in bytes up to which a bundle fits into the config map
// through which a cluster unpacks it.
const maxPacked = 1 << 20

// size checks that the bundle is not too large once packed: every file
// compressed and in base64.
func (c *checker) size() {
	raw := int64(0)
	for _, f := range c.b.files {
		raw += int64(base64.StdEncoding.EncodedLen(len(f.data))) + 64
	}
	if raw < maxPacked*85/100 {
		return // even if nothing can be compressed
	}
	packed := int64(0)
	largest, at := int64(0), ""
	for _, f := range c.b.files {
		n := packedSize(f.data)
		packed += n
		if n > largest {
			largest, at = n, f.name
		}
	}
	message := fmt.Sprintf("compressed and in base64 the files have %d bytes, and at most %d are allowed; this one has %d of them", packed, maxPacked, largest)
	hint := "shorten descriptions in schemas of CRDs, or leave out icons and examples"
	pos := catalog.Position{File: at}
	switch {
	case packed > maxPacked:
		c.found.fault(CodeTooLarge, pos, c.b.subject(), message, hint)
	case packed*100 > maxPacked*85:
		c.found.advice(CodeTooLarge, pos, c.b.subject(), message, hint)
	}
}

// packedSize returns the length of data compressed and in base64.
func packedSize(data []byte) int64 {
	var n counter
	z := gzip.NewWriter(&n)
	// Neither can fail: the counter takes everything.
	_, _ = z.Write(data)
	_ = z.Close()
	return int64(base64.StdEncoding.EncodedLen(int(n)))
}

type counter int

func (n *counter) Write(p []byte) (int, error) {
	*n += counter(len(p))
	return len(p), nil
}
