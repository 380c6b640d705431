package olm_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestExtensionWhy: where nothing follows what an extension has installed, the cause is named;
// a step of the path that is in none of its channels names one that has it.
func TestExtensionWhy(t *testing.T) {
	const text = `{"schema": "olm.package", "name": "loom", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "loom", "name": "stable", "entries": [{"name": "loom.v3.0.0", "replaces": "loom.v2.0.0"}]}
{"schema": "olm.channel", "package": "loom", "name": "fast", "entries": [{"name": "loom.v1.0.0"}, {"name": "loom.v2.0.0", "replaces": "v0.9.0", "skips": ["loom.v1.0.0"]}]}
{"schema": "olm.bundle", "package": "loom", "name": "loom.v3.0.0", "image": "r.io/loom:3", "properties": [{"type": "olm.package", "value": {"packageName": "loom", "version": "3.0.0"}}]}
{"schema": "olm.bundle", "package": "loom", "name": "loom.v2.0.0", "image": "r.io/loom:2", "properties": [{"type": "olm.package", "value": {"packageName": "loom", "version": "2.0.0"}}]}
{"schema": "olm.bundle", "package": "loom", "name": "loom.v1.0.0", "image": "r.io/loom:1", "properties": [{"type": "olm.package", "value": {"packageName": "loom", "version": "1.0.0"}}]}
`
	c, err := catalog.Open(t.Context(), fstest.MapFS{"c.json": {Data: []byte(text)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: c}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &olm.Extension{Package: "loom", Channels: []string{"stable"}, Installed: &olm.InstalledBundle{Name: "loom.v0.5.0", Version: "0.5.0"}}
	_, err = r.ResolveExtension(x)
	var none *olm.ExtensionError
	if !errors.As(err, &none) || !strings.Contains(none.Why, "loom.v2.0.0 (not in the channel, but in fast)") {
		t.Errorf("of a version that nothing accepts: %v", err)
	}
	x.Installed = &olm.InstalledBundle{Name: "loom.v1.0.0", Version: "1.0.0"}
	_, err = r.ResolveExtension(x)
	if !errors.As(err, &none) || none.Why != "" || len(none.Next) != 1 {
		t.Errorf("of a version with a successor elsewhere: %v", err)
	}
	path, err := r.ExtensionPath(x)
	if err != nil || len(path) != 2 || path[0].Channel != "fast" || path[1].Channel != "" {
		t.Fatalf("path %+v, %v", path, err)
	}
	x.Version, x.Channels = path[0].Version, append(x.Channels, path[0].Channel)
	if choice, err := r.ResolveExtension(x); err != nil || choice.Name != "loom.v2.0.0" {
		t.Errorf("following the path: %v, %v", choice, err)
	}
}
