package olm_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// twoVersions is a catalog of one package.
const twoVersions = `{"schema":"olm.package","name":"a","defaultChannel":"s"}
{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1"},{"name":"a.v2","replaces":"a.v1"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"a","name":"a.v2","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"2.0.0"}}]}
`

// A subscription has an operator as soon as its status names it, as the
// installed or as the current CSV.
func TestAdoptTaken(t *testing.T) {
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: samples.Text(t, twoVersions)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ installed, current, want string }{
		{"a.v1", "a.v1", "subscription x has it"},
		{"a.v1", "a.v2", "subscription x has it"},
		{"a.v0", "a.v1", "subscription x has it"},
		{"", "", "subscription x asks for package a"},
	} {
		req := &olm.Request{Installed: make([]olm.ClusterServiceVersion, 1), Subscriptions: make([]olm.Subscription, 1)}
		c, s := &req.Installed[0], &req.Subscriptions[0]
		c.Name, c.Spec.Version, c.Status.Phase = "a.v1", "1.0.0", olm.PhaseSucceeded
		s.Name, s.Spec.Package, s.Status.InstalledCSV, s.Status.CurrentCSV = "x", "a", tt.installed, tt.current
		if _, err := r.Adopt(t.Context(), req, "a.v1", ""); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("installed %q, current %q: %v, want %s", tt.installed, tt.current, err, tt.want)
		}
	}
}

// A CSV that names itself in replaces ends its chain.
func TestReplacesItself(t *testing.T) {
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: samples.Text(t, twoVersions)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	req := &olm.Request{Installed: make([]olm.ClusterServiceVersion, 1), Subscriptions: make([]olm.Subscription, 1), Group: &olm.OperatorGroup{}}
	req.Group.Spec.UpgradeStrategy = olm.UpgradeFailForward
	c, s := &req.Installed[0], &req.Subscriptions[0]
	c.Name, c.Spec.Version, c.Spec.Replaces, c.Status.Phase = "a.v1", "1.0.0", "a.v1", olm.PhaseFailed
	s.Name, s.Spec.Package, s.Status.InstalledCSV, s.Status.CurrentCSV = "x", "a", "a.v1", "a.v1"
	res, err := r.Resolve(t.Context(), req)
	if err != nil || len(res.Chosen) != 1 || res.Chosen[0].Name != "a.v2" {
		t.Errorf("%v, %v", res, err)
	}
}
