package plugins_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/plugins"
	"github.com/fairlead/fairlead/solver/rule"
)

// server is a registry of an editor's plugins that counts the requests.
func server() (*httptest.Server, *int) {
	api := func(n int) []rule.Property {
		return []rule.Property{{Type: "api", Value: json.RawMessage(fmt.Sprint(n))}}
	}
	releases := map[string][]plugins.Release{
		"spell": {
			{Name: "spell 2.0", KiB: 900, Needs: []string{`dictionary: properties.exists(p, p.type == "api" && p.value >= 3)`}},
			{Name: "spell 1.4", KiB: 300, Needs: []string{"dictionary"}},
		},
		"dictionary": {
			{Name: "dictionary 3.1", KiB: 4000, Properties: api(3), Excludes: []string{"legacy"}},
			{Name: "dictionary 2.9", KiB: 1500, Properties: api(2)},
		},
		"legacy": {{Name: "legacy 1.0", KiB: 10}},
	}
	requests := new(int)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		*requests++
		var names []string
		if err := json.NewDecoder(req.Body).Decode(&names); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		lists := make([][]plugins.Release, len(names))
		for i, name := range names {
			lists[i] = releases[name]
		}
		_ = json.NewEncoder(w).Encode(lists)
	})), requests
}

func names(all []*plugins.Release) string {
	var list []string
	for _, r := range all {
		list = append(list, r.Name)
	}
	return strings.Join(list, ", ")
}

func Example() {
	ctx := context.Background()
	web, requests := server()
	defer web.Close()

	best, err := (&plugins.Registry{URL: web.URL}).Install(ctx, []string{"spell"})
	fmt.Println(names(best), err, "in", *requests, "requests")

	// The old dictionary goes with the legacy plugin.
	best, err = (&plugins.Registry{URL: web.URL}).Install(ctx, []string{"spell", "legacy"})
	fmt.Println(names(best), err)

	least, kib, err := (&plugins.Registry{URL: web.URL}).Smallest(ctx, []string{"spell"})
	fmt.Println(names(least), kib, "KiB", err)

	_, err = (&plugins.Registry{URL: web.URL}).Install(ctx, []string{"legacy", `dictionary: properties.exists(p, p.type == "api" && p.value >= 3)`})
	fmt.Println(err)
	// Output:
	// spell 2.0, dictionary 3.1 <nil> in 3 requests
	// spell 1.4, legacy 1.0, dictionary 2.9 <nil>
	// spell 1.4, dictionary 2.9 1800 KiB <nil>
	// the plugins cannot be installed.
	// These cannot be met together:
	// legacy is wanted (legacy 1.0)
	// dictionary: properties.exists(p, p.type == "api" && p.value >= 3) is wanted (dictionary 3.1)
	// └─ dictionary 3.1 excludes legacy 1.0
	// What would help:
	// - do without legacy
	// - or do without dictionary: properties.exists(p, p.type == "api" && p.value >= 3)
}

func TestErrors(t *testing.T) {
	web, _ := server()
	var mistake *rule.SyntaxError
	if _, err := (&plugins.Registry{URL: web.URL}).Install(t.Context(), []string{"spell: propertys.size() > 1"}); !errors.As(err, &mistake) {
		t.Errorf("got %v", err)
	}
	if all, err := (&plugins.Registry{URL: web.URL}).Install(t.Context(), []string{"nothing"}); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("got %v, %v", all, err)
	}
	web.Close()
	if _, err := (&plugins.Registry{URL: web.URL}).Install(t.Context(), []string{"spell"}); err == nil || !strings.Contains(err.Error(), web.URL) {
		t.Errorf("got %v", err)
	}
}
