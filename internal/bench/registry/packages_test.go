package registry_test

import (
	"encoding/json"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/clientset/versioned/fake"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/lib/queueinformer"
	v1 "github.com/operator-framework/operator-lifecycle-manager/pkg/package-server/apis/operators/v1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/package-server/provider"
	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/cache"
	"github.com/operator-framework/operator-registry/pkg/server"
	"google.golang.org/grpc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	k8sfake "k8s.io/client-go/kubernetes/fake"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/packages"
	"github.com/fairlead/fairlead/internal/bench/registry"
	"github.com/fairlead/fairlead/internal/long"
)

// TestPackageManifests: field by field, the views of real catalogs are those of OLM's
// own package server, which gets the catalog from operator-registry's own server.
func TestPackageManifests(t *testing.T) {
	names := []string{"full-sample.tar.gz"}
	if long.Enabled() {
		names = append(names, "slim.tar.gz")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(registry.DataPath(name)); err != nil {
				t.Skipf("no real catalogs here: %v", err)
			}
			dir := t.TempDir()
			if _, err := registry.Unpack(registry.DataPath(name), dir); err != nil {
				t.Fatal(err)
			}
			want := theirManifests(t, dir)
			c, err := catalog.Open(t.Context(), os.DirFS(dir), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, without, err := packages.List(t.Context(), c, &packages.Source{
				ObjectMeta: fairlead.ObjectMeta{Name: "community", Namespace: "olm", Labels: map[string]string{"tier": "1"}}, DisplayName: "Community", Publisher: "All",
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Items) != len(want) {
				t.Errorf("%d packages, want %d", len(got.Items), len(want))
			}
			channels, bad := 0, 0
			for _, m := range got.Items {
				channels += len(m.Status.Channels)
				ours, theirs := plain(t, m), want[m.Name]
				if string(ours) != string(theirs) {
					if bad++; bad <= 3 {
						at := 0
						for at < min(len(ours), len(theirs)) && ours[at] == theirs[at] {
							at++
						}
						t.Errorf("%s:\n ours   ...%.300s\n theirs ...%.300s", m.Name, ours[max(0, at-100):], theirs[max(0, at-100):])
					}
				}
			}
			t.Logf("%d packages, %d channels, %d left out, %d packages differ", len(got.Items), channels, len(without), bad)
		})
	}
}

// plain returns a view as JSON with sorted keys. It omits the type, which their list
// leaves out, and sorts what has no order there: related images and entries of the same
// version.
func plain(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "kind")
	delete(m, "apiVersion")
	delete(m, "spec")
	status := m["status"].(map[string]any)
	for _, ch := range status["channels"].([]any) {
		csv := ch.(map[string]any)["currentCSVDesc"].(map[string]any)
		if images, ok := csv["relatedImages"].([]any); ok {
			slices.SortFunc(images, func(a, b any) int { return compareText(a, b) })
		}
		entries, _ := ch.(map[string]any)["entries"].([]any)
		slices.SortFunc(entries, func(a, b any) int { return compareText(field(a, "name"), field(b, "name")) })
	}
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	return text
}

func compareText(a, b any) int {
	switch a, b := a.(string), b.(string); {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// theirManifests asks OLM's package server for the packages of a catalog.
func theirManifests(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	ctx := t.Context()
	store, err := cache.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := cache.LoadOrRebuild(ctx, store, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service := grpc.NewServer()
	api.RegisterRegistryServer(service, server.NewRegistryServer(store))
	go func() { _ = service.Serve(listener) }()
	defer service.Stop()
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Name: "community", Namespace: "olm", Labels: map[string]string{"tier": "1"}}}
	source.Spec.SourceType, source.Spec.Address = v1alpha1.SourceTypeGrpc, listener.Addr().String()
	source.Spec.DisplayName, source.Spec.Publisher = "Community", "All"
	source.Status.RegistryServiceStatus = &v1alpha1.RegistryServiceStatus{}
	operator, err := queueinformer.NewOperator(k8sfake.NewSimpleClientset().Discovery())
	if err != nil {
		t.Fatal(err)
	}
	p, err := provider.NewRegistryProvider(ctx, fake.NewSimpleClientset(source), operator, time.Hour, "olm")
	if err != nil {
		t.Fatal(err)
	}
	p.Run(ctx)
	names, err := store.ListPackages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 600 { // it reads in the background
		list, err := p.List("olm", labels.Everything())
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) == len(names) {
			all := map[string][]byte{}
			for _, m := range list.Items {
				var shown v1.PackageManifest
				if err := v1.Convert_operators_PackageManifest_To_v1_PackageManifest(&m, &shown, nil); err != nil {
					t.Fatal(err)
				}
				all[m.Name] = plain(t, &shown)
			}
			return all
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatalf("the package server does not show all of %d packages", len(names))
	return nil
}
