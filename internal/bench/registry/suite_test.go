package registry_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	validator "github.com/operator-framework/api/pkg/validation/interfaces"

	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/internal/long"
)

// hubHarms returns ways to break what suites require.
func hubHarms() []bundleHarm {
	return []bundleHarm{
		{name: "as it is", target: "csv", do: func(*rand.Rand, object) bool { return true }},
		setting("csv", "no provider", object{}, "spec", "provider"),
		setting("csv", "a provider of blanks", object{"name": "  "}, "spec", "provider"),
		setting("csv", "a maintainer without address", []any{object{"name": "a"}}, "spec", "maintainers"),
		setting("csv", "a maintainer with a bad address", []any{object{"name": "a", "email": "a at b"}}, "spec", "maintainers"),
		setting("csv", "a maintainer at a host", []any{object{"name": "a", "email": "a@b"}}, "spec", "maintainers"),
		setting("csv", "a link without address", []any{object{"name": "a"}}, "spec", "links"),
		setting("csv", "a link that leads nowhere", []any{object{"name": "a", "url": "nowhere"}}, "spec", "links"),
		setting("csv", "an unknown capability", "Everything", "metadata", "annotations", "capabilities"),
		setting("csv", "an unknown category", "Storage, Cheese", "metadata", "annotations", "categories"),
		setting("csv", "two pictures", []any{object{"base64data": "eA==", "mediatype": "image/png"}, object{"base64data": "eA==", "mediatype": "image/png"}}, "spec", "icon"),
		setting("csv", "a picture of an unknown type", []any{object{"base64data": "eA==", "mediatype": "image/tiff"}}, "spec", "icon"),
		setting("csv", "a picture without data", []any{object{"mediatype": "image/png"}}, "spec", "icon"),
		taking("csv", "no picture", "spec", "icon"),
		setting("csv", "no version", "0.0.0", "spec", "version"),
		taking("csv", "no oldest Kubernetes", "spec", "minKubeVersion"),
		file("an old API", func(_ *rand.Rand, f map[string]string) bool {
			f["manifests/zz.yaml"] = "apiVersion: rbac.authorization.k8s.io/v1beta1\nkind: ClusterRole\nmetadata: {name: x}\n"
			return true
		}),
	}
}

// TestSuites: real bundles, intact and broken, pass a suite here if and only if they
// pass the validators of operator-framework/api.
func TestSuites(t *testing.T) {
	originals, r := realBundles(t, long.N(5, 64)), source(t.Name())
	n, refused := 0, 0
	for _, original := range originals {
		for _, h := range hubHarms() {
			files := map[string]string{}
			for name, text := range original {
				files[name] = text
			}
			if !h.harm(t, r, files) {
				continue
			}
			fsys, dir := fstest.MapFS{}, t.TempDir()
			for name, text := range files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if err := os.CopyFS(dir, fsys); err != nil {
				t.Fatal(err)
			}
			theirs, err := manifests.GetBundleFromDir(filepath.Join(dir, "manifests"))
			if err != nil {
				t.Fatal(err)
			}
			ours, err := bundle.Read(context.Background(), fsys, nil)
			if err != nil {
				t.Fatal(err)
			}
			for suite, list := range map[bundle.Suite]validator.Validators{
				bundle.SuiteOperatorHub: {validation.OperatorHubV2Validator, validation.StandardCapabilitiesValidator, validation.StandardCategoriesValidator},
				bundle.SuiteCommunity:   {validation.CommunityOperatorValidator},
			} {
				n++
				errs := 0
				for _, result := range list.Validate(theirs.ObjectsToValidate()...) {
					errs += len(result.Errors)
				}
				faults, _ := ours.Suite(suite, nil)
				if errs > 0 {
					refused++
				}
				if (errs > 0) != (len(faults) > 0) {
					t.Errorf("%s: %s: theirs %d errors, ours %v", suite, h.name, errs, faults)
				}
			}
		}
	}
	t.Logf("%d verdicts on %d bundles, %d refused", n, len(originals), refused)
}
