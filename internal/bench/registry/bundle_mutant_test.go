package registry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	opm "github.com/operator-framework/operator-registry/pkg/lib/bundle"
	"github.com/sirupsen/logrus"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	crdcheck "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/internal/bench/registry"
	"github.com/fairlead/fairlead/internal/long"
)

// bundleExceptions are the ways to break a bundle on which the verdicts differ, and
// why.
var bundleExceptions = map[string]string{
	"empty package":                     "a catalog cannot hold it",
	"csv without version":               "the zero version stands in for it there, and a catalog cannot hold that",
	"an install mode that is not known": "it is passed over there",
	"an install mode twice":             "the set that should tell is never filled there",
	"another apiVersion":                "no cluster knows it",
	"another strategy":                  "OLM does not install it",
	"an old property that is no list":   "it is dropped there with a warning",
	"a column with a broken path":       "the API server takes it, and the column stays empty",
	"a rule that does not compile":      "compiling it takes the API server's library",
	"an old version of the API":         "it is judged by the rules of v1 there; no server of today knows it, which is advice here",
}

// realBundles returns the files of real bundles that both consider valid, by name.
func realBundles(t testing.TB, most int) []map[string]string {
	t.Helper()
	archive := filepath.Join(filepath.Dir(filepath.Dir(registry.DataPath("x"))), "bundles", "bundles.tar.gz")
	if _, err := os.Stat(archive); err != nil {
		t.Skipf("no real bundles here: %v", err)
	}
	all := map[string]map[string]string{}
	err := registry.Walk(archive, func(name string, content io.Reader) error {
		parts := strings.Split(strings.TrimPrefix(name, "./"), "/")
		if len(parts) != 5 || parts[0] != "bundles" || parts[3] != "manifests" && parts[3] != "metadata" {
			return nil
		}
		text, err := io.ReadAll(content)
		key := parts[1] + "/" + parts[2]
		if all[key] == nil {
			all[key] = map[string]string{}
		}
		all[key][parts[3]+"/"+parts[4]] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if len(list) < most && ourBundle(t, all[name]) == "" && theirBundle(t, all[name]) == "" {
			list = append(list, all[name])
		}
	}
	return list
}

// ourBundle returns the findings about a bundle, one per line.
func ourBundle(t testing.TB, files map[string]string) string {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	b, err := bundle.Read(context.Background(), fsys, nil)
	var faults catalog.Diagnostics
	if err != nil {
		if !errors.As(err, &faults) {
			t.Fatal(err)
		}
		return faults.Error()
	}
	if faults = b.Validate(nil); len(faults) == 0 {
		return ""
	}
	return faults.Error()
}

// theirBundle returns what opm alpha bundle validate says about a bundle, and what the
// validation of the API server says about its CRDs.
func theirBundle(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer os.RemoveAll(dir)
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	v := opm.NewImageValidator(nil, logrus.NewEntry(quiet))
	if err := v.ValidateBundleFormat(dir); err != nil {
		return "format: " + fmt.Sprint(err)
	}
	if err := v.ValidateBundleContent(filepath.Join(dir, "manifests")); err != nil {
		return "content: " + fmt.Sprint(err)
	}
	for name, text := range files {
		if why := crdFault(text); strings.HasPrefix(name, "manifests/") && why != "" {
			return "API server: " + why
		}
	}
	return ""
}

// crdFault returns what the API server says about a manifest that is a CRD of v1.
func crdFault(text string) string {
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(text), &head); err != nil || head.Kind != "CustomResourceDefinition" || head.APIVersion != "apiextensions.k8s.io/v1" {
		return ""
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoded, err := runtime.Decode(serializer.NewCodecFactory(scheme).UniversalDecoder(), []byte(text))
	if err != nil {
		return err.Error()
	}
	crd := decoded.(*apiextensions.CustomResourceDefinition)
	crd.Status = apiextensions.CustomResourceDefinitionStatus{} // as when it is created
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
			break
		}
	}
	if list := crdcheck.ValidateCustomResourceDefinition(context.Background(), crd); len(list) > 0 {
		return list.ToAggregate().Error()
	}
	return ""
}

// TestBundleMutants breaks real bundles in every known way, one at a time: the
// verdict is that of opm alpha bundle validate, or of the API server for CRDs, except
// for bundleExceptions.
func TestBundleMutants(t *testing.T) {
	originals, kinds := realBundles(t, long.N(6, 64)), directoryHarms()
	r := source(t.Name())
	n, refused, tries := 0, 0, 0
	differ := map[string]int{}
	for i := 0; n < long.N(len(kinds), 900); i++ {
		if tries++; tries > 20_000 {
			t.Fatalf("%d mutants after %d tries", n, tries)
		}
		h := kinds[i%len(kinds)]
		files := maps.Clone(pick(r, originals))
		if !h.harm(t, r, files) {
			continue
		}
		n++
		theirs, ours := theirBundle(t, files), ourBundle(t, files)
		if theirs != "" {
			refused++
		}
		if (theirs == "") == (ours == "") {
			continue
		}
		if differ[h.name]++; bundleExceptions[h.name] == "" && differ[h.name] == 1 {
			t.Errorf("%s:\n theirs %.400q\n ours   %.400q", h.name, theirs, ours)
		}
	}
	t.Logf("%d mutants of %d bundles by %d kinds, %d refused; verdicts that differ: %v", n, len(originals), len(kinds), refused, differ)
	for name := range bundleExceptions {
		if long.Enabled() && differ[name] == 0 {
			t.Errorf("the exception %q is none any more", name)
		}
	}
}

// harm breaks one of the files, and reports whether that was possible.
func (h *bundleHarm) harm(t *testing.T, r *rand.Rand, files map[string]string) bool {
	t.Helper()
	kind := map[string]string{"csv": "ClusterServiceVersion", "crd": "CustomResourceDefinition"}[h.target]
	dir := "manifests/"
	switch h.target {
	case "files":
		return h.files(r, files)
	case "annotations":
		dir = "metadata/annotations"
	}
	path := oneOf(r, files, dir, func(text string) bool { return kind == "" || strings.Contains(text, "\nkind: "+kind+"\n") })
	if path == "" {
		return false
	}
	var o object
	if err := yaml.Unmarshal([]byte(files[path]), &o); err != nil || o == nil || !h.do(r, o) {
		return false
	}
	text, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	files[path] = string(text)
	return true
}
