package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/internal/samples"
	"k8s.io/apimachinery/pkg/util/version"
)

// A realBundle is a bundle from the real data.
type realBundle struct {
	*bundle.Bundle
	at       string // its directory there: PACKAGE/VERSION
	document bundle.Document
}

// realBundles returns the bundles of the data, by package, in the order of
// their versions. Each is stored below root as the image that its document
// names.
func realBundles(t *testing.T, root string) [][]*realBundle {
	t.Helper()
	files, err := samples.Unpack(samples.Data(t, "bundles", "bundles.tar.gz"), func(name string) bool { return strings.HasPrefix(name, "bundles/") })
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := fs.Glob(files, "bundles/*/*/manifests")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]*realBundle
	for _, dir := range dirs {
		b := &realBundle{at: strings.TrimPrefix(path.Dir(dir), "bundles/")}
		tree, err := fs.Sub(files, path.Dir(dir))
		if err != nil {
			t.Fatal(err)
		}
		if b.Bundle, err = bundle.Read(t.Context(), tree, nil); err != nil {
			t.Fatalf("%s: %v", b.at, err)
		}
		image := "data/" + b.at
		d, err := b.Render(&bundle.RenderOptions{Image: image, CSVMetadata: true})
		if err != nil {
			t.Fatalf("%s: %v", b.at, err)
		}
		b.document = *d
		if err := os.CopyFS(filepath.Join(root, image), tree); err != nil {
			t.Fatal(err)
		}
		if n := len(all); n == 0 || all[n-1][0].Package() != b.Package() {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], b)
	}
	for _, versions := range all {
		slices.SortFunc(versions, func(a, b *realBundle) int {
			order, err := version.MustParseSemantic(a.Version()).Compare(b.Version())
			if err != nil {
				t.Fatal(err)
			}
			return cmp.Or(order, strings.Compare(a.at, b.at))
		})
	}
	return all
}

// next returns the bundle of the next version; nil if there is none.
func (b *realBundle) next(versions []*realBundle) *realBundle {
	for _, other := range versions[slices.Index(versions, b)+1:] {
		if other.Name() != b.Name() { // two directories contain the same bundle
			return other
		}
	}
	return nil
}

// supports reports whether the bundle can be installed in a mode.
func (b *realBundle) supports(mode string) bool {
	return slices.ContainsFunc(b.CSV.Spec.InstallModes, func(m bundle.InstallMode) bool { return m.Type == mode && m.Supported })
}

// An outsider is a kind that bundles of the data need and none of them provides,
// with the package that provides it in the test. A package without kinds is
// needed as such.
type outsider struct {
	pkg, version          string
	group, served, plural string
	kind                  string
}

// outsiders returns all outsiders that the bundles of the data need.
func outsiders() []outsider {
	return []outsider{
		{"hive-operator", "1.0.0", "hive.openshift.io", "v1", "clusterdeployments", "ClusterDeployment"},
		{"hive-operator", "1.0.0", "hive.openshift.io", "v1", "clusterclaims", "ClusterClaim"},
		{"argocd-operator", "1.0.0", "argoproj.io", "v1alpha1", "applications", "Application"},
		{"bucket-apis", "1.0.0", "objectbucket.io", "v1alpha1", "objectbuckets", "ObjectBucket"},
		{"bucket-apis", "1.0.0", "objectbucket.io", "v1alpha1", "objectbucketclaims", "ObjectBucketClaim"},
		{"rabbitmq-cluster-operator", "2.1.0", "rabbitmq.com", "v1beta1", "rabbitmqclusters", "RabbitmqCluster"},
		{"self-node-remediation", "1.0.0", "self-node-remediation.medik8s.io", "v1alpha1", "selfnoderemediations", "SelfNodeRemediation"},
		{"crunchy-postgres-operator", "5.1.0", "postgres-operator.crunchydata.com", "v1beta1", "postgresclusters", "PostgresCluster"},
		{pkg: "ack-rds-controller", version: "0.1.0"},
		{pkg: "service-binding-operator", version: "1.0.0"},
		// These do not belong to an operator here: the test itself defines
		// them.
		{"", "", "monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor"},
		{"", "", "monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule"},
	}
}

func (o *outsider) crd() map[string]any {
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": o.plural + "." + o.group},
		"spec": map[string]any{
			"group": o.group, "scope": "Namespaced", "names": map[string]any{"kind": o.kind, "listKind": o.kind + "List", "plural": o.plural, "singular": strings.ToLower(o.kind)},
			"versions": []any{map[string]any{"name": o.served, "served": true, "storage": true, "schema": map[string]any{
				"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			}}},
		},
	}
}

// needs returns the outsiders that a bundle needs: from other packages, and the
// kinds of its own objects.
func (b *realBundle) needs() (others, kinds []outsider) {
	for _, o := range outsiders() {
		required := func(what string) bool {
			return slices.ContainsFunc(b.document.Properties, func(p catalog.Property) bool {
				return p.Type != "olm.gvk" && p.Type != "olm.csv.metadata" && strings.Contains(string(p.Value), `"`+what+`"`)
			})
		}
		switch {
		case o.pkg == "":
			if slices.ContainsFunc(b.Manifests, func(m *bundle.Manifest) bool { return m.Kind == o.kind }) {
				kinds = append(kinds, o)
			}
		case required(o.pkg) || o.kind != "" && required(o.kind):
			others = append(others, o)
		}
	}
	return others, kinds
}

// stock writes a catalog with these bundles in one channel, each of which replaces
// the previous one, and with packages that provide what they need. It returns its
// image.
func stock(t *testing.T, root, image string, bundles []*realBundle, others []outsider) string {
	t.Helper()
	var docs strings.Builder
	add := func(document any) {
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		docs.Write(text)
		docs.WriteByte('\n')
	}
	pkg := func(name string, entries []any) {
		add(map[string]any{"schema": "olm.package", "name": name, "defaultChannel": "all"})
		add(map[string]any{"schema": "olm.channel", "package": name, "name": "all", "entries": entries})
	}
	var entries []any
	for i, b := range bundles {
		entry := map[string]any{"name": b.Name()}
		if i > 0 {
			entry["replaces"] = bundles[i-1].Name()
		}
		entries = append(entries, entry)
		add(b.document)
	}
	pkg(bundles[0].Package(), entries)
	for i, o := range others {
		if slices.ContainsFunc(others[:i], func(x outsider) bool { return x.pkg == o.pkg }) {
			continue
		}
		name := o.pkg + ".v" + o.version
		pkg(o.pkg, []any{map[string]any{"name": name}})
		csv := map[string]any{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": map[string]any{"name": name}}
		properties := []any{map[string]any{"type": "olm.package", "value": map[string]any{"packageName": o.pkg, "version": o.version}}}
		objects, owned := []any{csv}, []any{}
		for _, x := range others {
			if x.pkg == o.pkg && x.kind != "" {
				properties = append(properties, map[string]any{"type": "olm.gvk", "value": map[string]any{"group": x.group, "version": x.served, "kind": x.kind}})
				owned = append(owned, map[string]any{"name": x.plural + "." + x.group, "version": x.served, "kind": x.kind})
				objects = append(objects, x.crd())
			}
		}
		csv["spec"] = map[string]any{
			"version": o.version, "customresourcedefinitions": map[string]any{"owned": owned},
			"installModes": []any{map[string]any{"type": "OwnNamespace", "supported": true}, map[string]any{"type": "AllNamespaces", "supported": true}},
			"install":      map[string]any{"strategy": "deployment", "spec": map[string]any{"deployments": []any{}}},
		}
		for _, object := range objects {
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			properties = append(properties, map[string]any{"type": "olm.bundle.object", "value": map[string]any{"data": text}})
		}
		add(map[string]any{"schema": "olm.bundle", "package": o.pkg, "name": name, "image": fmt.Sprintf("none/%s", name), "properties": properties})
	}
	dir := filepath.Join(root, image)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "catalog.json"), []byte(docs.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return image
}
