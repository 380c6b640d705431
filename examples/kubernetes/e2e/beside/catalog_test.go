package beside_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/outbound"
	"github.com/fairlead/fairlead/examples/kubernetes/served"
)

// packages writes a catalog with count packages, each with three versions in two
// channels.
func packages(t *testing.T, dir string, count int) {
	t.Helper()
	for i := range count {
		name := fmt.Sprintf("shop%03d", i)
		text := fmt.Sprintf("schema: olm.package\nname: %s\ndefaultChannel: stable\ndescription: A shop.\n---\n", name)
		text += fmt.Sprintf("schema: olm.channel\npackage: %s\nname: stable\nentries:\n- {name: %s.v1.0.0}\n- {name: %s.v1.1.0, replaces: %s.v1.0.0, skipRange: '<1.1.0'}\n---\n", name, name, name, name)
		text += fmt.Sprintf("schema: olm.channel\npackage: %s\nname: fast\nentries:\n- {name: %s.v1.1.0}\n- {name: %s.v2.0.0, replaces: %s.v1.1.0, skips: [%s.v1.5.0]}\n---\n", name, name, name, name, name)
		for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
			text += fmt.Sprintf("schema: olm.bundle\npackage: %s\nname: %s.v%s\nimage: quay.io/acme/%s:%s\nproperties:\n- {type: olm.package, value: {packageName: %s, version: %s}}\n"+
				"- {type: olm.gvk, value: {group: %s.example.com, version: v1, kind: Shop}}\n- {type: olm.package.required, value: {packageName: shop000, versionRange: '>=1.0.0'}}\n---\n", name, name, version, name, version, name, version, name)
		}
		text += fmt.Sprintf("schema: olm.deprecations\npackage: %s\nentries:\n- {reference: {schema: olm.channel, name: fast}, message: too fast}\n- {reference: {schema: olm.bundle, name: %s.v1.0.0}, message: too old}\n", name, name)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// facts returns the data of a catalog that the service also returns, one fact
// per line.
func facts(t *testing.T, c *catalog.Catalog) []string {
	t.Helper()
	var all []string
	for d := range c.Documents() {
		data, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "description")
		delete(fields, "icon")
		delete(fields, "relatedImages")
		var kept []any
		if properties, ok := fields["properties"].([]any); ok {
			for _, p := range properties {
				if kind := p.(map[string]any)["type"]; kind != "olm.csv.metadata" {
					kept = append(kept, p)
				}
			}
			sorted(kept)
			fields["properties"] = kept
		}
		if entries, ok := fields["entries"].([]any); ok {
			sorted(entries)
		}
		line, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(line))
	}
	slices.Sort(all)
	return all
}

// sorted sorts values by their JSON.
func sorted(values []any) {
	slices.SortFunc(values, func(a, b any) int {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return cmp.Compare(string(x), string(y))
	})
}

// A catalog served by opm equals the one in its directory. The transfer is
// interrupted, and the service goes down and comes back with another catalog.
func TestCatalogService(t *testing.T) {
	opm := cluster.ProgramForTest(t, "opm")
	dir := t.TempDir()
	packages(t, dir, 60)
	addresses := cluster.FreeAddresses(t, 2)
	address, profiles := addresses[0], addresses[1]
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	serve := func() func() {
		return start(t, address, opm, "serve", dir, "--port", port, "--pprof-addr", profiles, "--termination-log", filepath.Join(t.TempDir(), "log"))
	}
	stop := serve()
	w := newWire(t, address)
	client := served.New(&served.Options{Rules: outbound.Rules{Local: true}})
	read, revision, err := client.Catalog(t.Context(), w.address, "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := catalog.Open(t.Context(), os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := facts(t, read), facts(t, want)
	if len(b) != 60*7 || !slices.Equal(a, b) {
		t.Errorf("%d documents of the service, %d of the directory; the first that differ:\n%s", len(a), len(b), firstDifference(a, b))
	}
	if again, same, err := client.Catalog(t.Context(), w.address, revision); again != nil || same != revision || err != nil {
		t.Errorf("unchanged: %v, %q, %v", again, same, err)
	}

	for _, most := range []int64{100, 2_000, 10_000, 20_000} {
		w.most.Store(most)
		before := w.cut.Load()
		if got, _, err := client.Catalog(t.Context(), w.address, ""); err == nil || got != nil {
			t.Errorf("a catalog that breaks off after %d bytes was taken", most)
		}
		if w.cut.Load() == before {
			t.Errorf("after %d bytes nothing was cut", most)
		}
	}
	w.most.Store(0)
	stop()
	if _, _, err := client.Catalog(t.Context(), w.address, revision); err == nil || !strings.Contains(err.Error(), w.address) {
		t.Errorf("a service that has gone: %v", err)
	}
	packages(t, dir, 61)
	serve()
	if read, next, err := client.Catalog(t.Context(), w.address, revision); err != nil || next == revision || read == nil || len(facts(t, read)) != 61*7 {
		t.Errorf("when it is back with another catalog: %v, %q, %v", read, next, err)
	}
}

func firstDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "\n" + b[i]
		}
	}
	return "none"
}
