package update

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/scene"
)

// makeRelease writes the payload of a release made from components, and loads
// it.
func makeRelease(version string, components []scene.Component) (*payload.Payload, error) {
	var text bytes.Buffer
	files := zip.NewWriter(&text)
	put := func(name, content string) error {
		f, err := files.Create(name)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		return err
	}
	err := put("manifests/README", "")
	if err == nil {
		err = put("release-manifests/release-metadata", fmt.Sprintf(`{"kind":"cincinnati-metadata-v0","version":%q}`, version))
	}
	if err == nil {
		err = put("release-manifests/image-references", fmt.Sprintf(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":%q}}`, version))
	}
	for _, c := range components {
		for _, m := range manifestsOf(&c, version) {
			if err == nil {
				err = put(m.file, m.text)
			}
		}
	}
	if err == nil {
		err = files.Close()
	}
	if err != nil {
		return nil, err
	}
	r, err := zip.NewReader(bytes.NewReader(text.Bytes()), int64(text.Len()))
	if err != nil {
		return nil, err
	}
	return payload.Load(r, nil)
}

// manifestFile is one file of a payload.
type manifestFile struct{ file, text string }

// manifestsOf returns the files of a component: ConfigMaps, and for an operator a
// Deployment and a ClusterOperator at the end.
func manifestsOf(c *scene.Component, version string) []manifestFile {
	var list []manifestFile
	add := func(n int, kind, api, name, namespace, rest string) {
		list = append(list, manifestFile{
			fmt.Sprintf("release-manifests/0000_%02d_%s_%04d_%s.yaml", c.Runlevel, c.Name, n, strings.ToLower(kind)),
			fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n%s  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\n%s\n", api, kind, name, namespace, rest),
		})
	}
	namespace := "  namespace: openshift-" + c.Name + "\n"
	for n := range c.Objects {
		add(n, "ConfigMap", "v1", fmt.Sprintf("%s-%d", c.Name, n), namespace, fmt.Sprintf("data: {release: %q}", version))
	}
	if c.Operator {
		add(5000, "Deployment", "apps/v1", c.Name+"-operator", namespace, fmt.Sprintf("spec: {release: %q}", version))
		add(9999, "ClusterOperator", "config.openshift.io/v1", c.Name, "", fmt.Sprintf("status: {versions: [{name: operator, version: %q}]}", version))
	}
	return list
}
