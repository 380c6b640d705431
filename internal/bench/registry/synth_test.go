package registry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/registry"
)

// synthetic makes a small valid catalog: packages whose channels are chains of
// replaces, some of which jump over a skipped entry, and sometimes with a deprecation.
func synthetic(r *rand.Rand) docs {
	var c docs
	for i := range 1 + r.IntN(3) {
		name, n := string(rune('a'+i)), 2+r.IntN(5)
		bundle := func(k int) string { return fmt.Sprintf("%s.v1.%d.0", name, k) }
		c = append(c, object{"schema": pkgs, "name": name, "defaultChannel": "c0"})
		for ch := range 1 + r.IntN(3) {
			low := 0
			if ch > 0 {
				low = r.IntN(n)
			}
			c = append(c, object{"schema": channels, "package": name, "name": fmt.Sprint("c", ch), "entries": chain(r, bundle, low, n)})
		}
		for k := range n {
			c = append(c, object{
				"schema": bundles, "package": name, "name": bundle(k), "image": "r.io/" + name + ":" + fmt.Sprint(k),
				"properties": []any{
					object{"type": pkgs, "value": object{"packageName": name, "version": fmt.Sprintf("1.%d.0", k)}},
					object{"type": "olm.gvk", "value": object{"group": name + ".io", "version": "v1", "kind": "K"}},
				},
				"relatedImages": []any{object{"name": "x", "image": "r.io/x@sha256:" + strings.Repeat("0", 64)}},
			})
		}
		if r.IntN(2) == 0 {
			c = append(c, object{"schema": deprecations, "package": name, "entries": []any{
				object{"reference": object{"schema": bundles, "name": bundle(r.IntN(n))}, "message": "old"},
				object{"reference": object{"schema": channels, "name": "c0"}, "message": "old"},
			}})
		}
	}
	return c
}

func chain(r *rand.Rand, bundle func(int) string, low, n int) []any {
	var entries []any
	for k := n - 1; k >= low; k-- {
		e := object{"name": bundle(k)}
		entries = append(entries, e)
		if r.IntN(3) == 0 {
			e["skipRange"] = fmt.Sprintf(">=1.0.0 <1.%d.0", k)
		}
		if k-2 >= low && r.IntN(3) == 0 { // the next one is skipped
			e["skips"] = []any{bundle(k - 1)}
			entries = append(entries, object{"name": bundle(k - 1), "replaces": bundle(k - 2)})
			k--
		}
		if k > low {
			e["replaces"] = bundle(k - 1)
		}
	}
	return entries
}

// realPackages returns small packages with at least two bundles of a catalog in the
// data, and skips the test if the data is absent.
func realPackages(t *testing.T, archive string, most int) []docs {
	t.Helper()
	var found []docs
	err := registry.Walk(registry.DataPath(archive), func(name string, content io.Reader) error {
		if path.Ext(name) != ".json" || len(found) == most {
			return nil
		}
		text, err := io.ReadAll(content)
		if err != nil || len(text) > 200_000 {
			return err
		}
		if c := parse(t, string(text)); len(c.of(bundles)) > 1 {
			found = append(found, c)
		}
		return nil
	})
	if err != nil {
		t.Skipf("needs the real catalogs: %v", err)
	}
	return found
}

func parse(t *testing.T, text string) docs {
	t.Helper()
	var c docs
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for {
		var one object
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return c
		} else if err != nil {
			t.Fatal(err)
		}
		c = append(c, one)
	}
}
