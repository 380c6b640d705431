package e2e_test

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/config"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	rbacv1 "k8s.io/api/rbac/v1"
)

// rightsUsed checks that no permission was missing (a server that has just
// started refuses what it allows a moment later), and that the operator has used
// every permission that the files of package config grant, except those listed
// as "verb group/resource", which this scenario does not need. A watch may
// include a list: if a server cannot send the present state in a watch, it is
// listed first. Whether a wait lasts long enough for an event depends on the
// speed of the machine.
func (w *world) rightsUsed(files []string, but ...string) {
	w.Helper()
	used, refused := w.rights()
	granted := map[string]bool{}
	for _, file := range files {
		_, rights := granting(w, file)
		maps.Copy(granted, rights)
	}
	for _, right := range slices.Sorted(maps.Keys(refused)) {
		if !used[right] && !granted[right] {
			w.Errorf("the operator has no right to %s: %s", right, refused[right])
		}
	}
	for _, right := range slices.Sorted(maps.Keys(granted)) {
		if watched, ok := strings.CutPrefix(right, "list "); ok && used["watch "+watched] || strings.HasSuffix(right, " events.k8s.io/events") {
			continue
		}
		if !used[right] && !slices.Contains(but, right) {
			w.Errorf("%s grant the right to %s, which was not used", strings.Join(files, ", "), right)
		}
	}
}

// rights returns the permissions that the operator has used, and those that
// it was refused, with the request, as "verb group/resource".
func (w *world) rights() (used map[string]bool, refused map[string]string) {
	w.Helper()
	used, refused = map[string]bool{}, map[string]string{}
	for _, r := range w.requests(cluster.Filter{User: operator.User}) {
		if r.As != "" {
			used["impersonate /serviceaccounts"] = true // the rest is up to the account
			continue
		}
		resource := r.Resource
		if r.Subresource != "" {
			resource += "/" + r.Subresource
		}
		right := r.Verb + " " + r.Group + "/" + resource
		if r.Code == 403 {
			refused[right] = r.URI
		} else {
			used[right] = true
		}
	}
	return used, refused
}

// granting is config.Rights of a file.
func granting(t testing.TB, file string) (roles []string, rights map[string]bool) {
	t.Helper()
	roles, rights, err := config.Rights(file)
	if err != nil {
		t.Fatal(err)
	}
	return roles, rights
}

// uses has for each file of package config the permissions that the operator used in those tests of this
// process that installed it.
var uses = struct {
	sync.Mutex
	by map[string]map[string]bool
}{by: map[string]map[string]bool{}}

// note records the permissions that the operator has used, for the files whose roles there are.
func (w *world) note() {
	var all rbacv1.ClusterRoleList
	if w.admin.List(context.Background(), &all) != nil {
		return // the test has stopped the server
	}
	there := map[string]bool{}
	for i := range all.Items {
		there[all.Items[i].Name] = true
	}
	used, _ := w.rights()
	uses.Lock()
	defer uses.Unlock()
	for _, file := range configFiles(w) {
		roles, _ := granting(w, file)
		if !slices.ContainsFunc(roles, func(name string) bool { return there[name] }) && file != "operator.yaml" {
			continue
		}
		if uses.by[file] == nil {
			uses.by[file] = map[string]bool{}
		}
		maps.Copy(uses.by[file], used)
	}
}

// configFiles returns the files of package config that grant permissions.
func configFiles(t testing.TB) []string {
	files, err := fs.Glob(config.Files, "rbac-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return append(files, "operator.yaml")
}
