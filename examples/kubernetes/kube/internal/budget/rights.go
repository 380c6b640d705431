package budget

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/config"
)

// Rights fails a test, at its end, if anything was requested that the files of package config do not
// permit, beside operator.yaml.
func (s *Server) Rights(t *testing.T, files ...string) {
	t.Helper()
	granted := map[string]bool{}
	for _, file := range append(files, "operator.yaml") {
		_, rights, err := config.Rights(file)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(granted, rights)
	}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.used) == 0 {
			t.Error("nothing was requested")
		}
		for _, right := range slices.Sorted(maps.Keys(s.used)) {
			if !granted[right] {
				t.Errorf("%s do not permit to %s, which was requested", strings.Join(files, ", "), right)
			}
		}
	})
}

// right names the permission that a request needs, as "verb group/resource".
func right(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	if parts[0] == "apis" {
		group, parts = parts[1], parts[1:]
	}
	if parts = parts[min(2, len(parts)):]; len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" {
		parts = parts[2:]
	}
	verb := map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[r.Method]
	switch resource := parts[0]; {
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		return "watch " + group + "/" + resource
	case r.Method == http.MethodGet && len(parts) == 1:
		return "list " + group + "/" + resource
	case len(parts) > 2:
		return verb + " " + group + "/" + resource + "/" + parts[2]
	default:
		return verb + " " + group + "/" + resource
	}
}
