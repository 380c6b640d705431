package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// Components that ask for every API do not use one that goes away.
func TestReadRemoved(t *testing.T) {
	var users []string
	for _, u := range []string{
		"system:serviceaccount:kube-system:generic-garbage-collector", "system:serviceaccount:kube-system:namespace-controller", "system:serviceaccount:kube-system:resourcequota-controller",
		"system:kube-controller-manager", "system:cluster-policy-controller", "system:apiserver", "system:serviceaccount:openshift-kube-storage-version-migrator:x", "shop", "system:apiserver-2",
	} {
		users = append(users, fmt.Sprintf(`{"username":%q}`, u))
	}
	var counts []plan.APIRequestCount
	text := fmt.Sprintf(`[{"metadata":{"name":"flows.v1"},"status":{"removedInRelease":"1.32","last24h":[{"byNode":[{"byUser":[%s]}]}]}},{"metadata":{"name":"stays.v1"}}]`, strings.Join(users, ","))
	if err := json.Unmarshal([]byte(text), &counts); err != nil {
		t.Fatal(err)
	}
	got := plan.ReadRemoved(counts)
	if len(got) != 1 || got[0].API != "flows.v1" || got[0].In != "1.32" || !slices.Equal(got[0].Users, []string{"shop", "system:apiserver-2"}) {
		t.Errorf("%+v", got)
	}
}

// A version that cannot be read is an error that names its bundle.
func TestReadOperatorsUnreadable(t *testing.T) {
	for _, property := range []string{`{type: olm.csv.metadata, value: {minKubeVersion: 1}}`, `{type: olm.package.required, value: 1}`} {
		c := samples.Text(t, `{schema: olm.package, name: a, defaultChannel: stable}
---
{schema: olm.channel, package: a, name: stable, entries: [{name: a.v1}, {name: a.v2, replaces: a.v1}]}
---
{schema: olm.bundle, package: a, name: a.v1, image: i, properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]}
---
{schema: olm.bundle, package: a, name: a.v2, image: i, properties: [{type: olm.package, value: {packageName: a, version: 2.0.0}}, `+property+`]}
`)
		sub := olm.Subscription{ObjectMeta: olm.ObjectMeta{Namespace: "ops", Name: "a"}, Spec: olm.SubscriptionSpec{Package: "a"}, Status: olm.SubscriptionStatus{InstalledCSV: "a.v1"}}
		v1 := olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Namespace: "ops", Name: "a.v1"}, Status: olm.CSVStatus{Phase: olm.PhaseSucceeded}}
		if got, err := plan.ReadOperators(map[string]*catalog.Catalog{"": c}, &plan.Installed{Subscriptions: []olm.Subscription{sub}, CSVs: []olm.ClusterServiceVersion{v1}}); err == nil || !strings.Contains(err.Error(), "a.v2") {
			t.Errorf("%s: %+v, %v", property, got, err)
		}
	}
}

// More operators that require something of each other than can be weighed are told.
func TestTooManyOperators(t *testing.T) {
	s := shop()
	s.Operators = nil
	names := []string{"a", "b", "c"}
	for i, name := range names {
		o := plan.Operator{Package: name, Namespace: "shop", Subscription: name, Channel: "stable", Installed: name + ".v0"}
		for v := range 90 {
			o.Versions = append(o.Versions, plan.OperatorVersion{
				Name: fmt.Sprint(name, ".v", v), Version: fmt.Sprintf("%d.0.0", v), Requires: []plan.Requirement{{Package: names[(i+1)%3], Range: ">=0.0.0"}},
			})
			if v > 0 {
				o.Updates = append(o.Updates, plan.OperatorUpdate{From: fmt.Sprint(name, ".v", v-1), To: fmt.Sprint(name, ".v", v)})
			}
		}
		s.Operators = append(s.Operators, o)
	}
	_, err := plan.Make(t.Context(), s, &plan.Goal{Release: "4.19.4"}, nil)
	var limit *fairlead.InputLimitError
	if !errors.As(err, &limit) {
		t.Errorf("%v", err)
	}
}
