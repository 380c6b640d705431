package install_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// Two tenants: the operator of namespace sister is as limited as that of the one who tries to harm
// it. Whatever is tried, what was written for the sister stays, and its operator is updated, with
// its CRD, in the usual number of passes.

const sister = "sister"

// sisterCSV is a version of the sister's operator.
func sisterCSV(version string) string {
	return `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"u.v` + version + `"},"spec":{"version":"` + version + `.0.0","replaces":"` +
		map[string]string{"1": "", "2": "u.v1"}[version] + `","installModes":[{"type":"OwnNamespace","supported":true}],"customresourcedefinitions":{"owned":[{"name":"us.u.example","version":"v1","kind":"U"}]},` +
		strings.ReplaceAll(strategy(""), "t-op", "u-op") + `}}`
}

// sisterCRD serves its one version, and in version 2 of the operator another in its place.
func sisterCRD(served string) string {
	return strings.Replace(crdText("us", "u.example", "U"), `"versions":[`, `"versions":[{"name":"v0","served":`+served+`,"storage":false},`, 1)
}

// newSisters is a hall with the sister's operator installed, and its update known.
func newSisters(t *testing.T) *hall {
	h := newHall(t)
	shelf := parseShelf("h/stable h.v1\nt/stable t.v1\nu/stable u.v1\nu/stable u.v2 replaces=u.v1").sources(t)
	h.backend.Sources = shelf
	r, err := olm.NewResolver(shelf, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.resume(r)
	h.edit(sister, func(w *install.World) {
		w.Namespaces = append(w.Namespaces, olm.ObjectMeta{Name: sister})
		var g install.OperatorGroup
		g.Name, g.Namespace = "g", sister
		g.Spec.TargetNamespaces, g.Spec.ServiceAccountName = []string{sister}, "small"
		w.Groups = append(w.Groups, g)
		meta := scope.ObjectMeta{Name: "small", Namespace: sister}
		w.Access.Roles = append(w.Access.Roles, scope.Role{ObjectMeta: meta, Rules: w.Access.Roles[0].Rules})
		w.Access.Bindings = append(w.Access.Bindings, scope.Binding{ObjectMeta: meta, RoleRef: scope.RoleRef{Kind: "Role", Name: "small"}, Subjects: []scope.Subject{{Kind: "ServiceAccount", Name: "small", Namespace: sister}}})
		w.Accounts = append(w.Accounts, scope.Account{Namespace: sister, Name: "small"})
		h.subscribe(w, "u", sisterCSV("1"), sisterCRD("true"))
		s := &w.Subscriptions[0]
		s.Spec.StartingCSV, s.Spec.InstallPlanApproval = "u.v1", olm.ApprovalManual
		next := install.Content{Source: olm.SourceKey{Name: "shelf"}, Bundle: "u.v2"}
		for _, m := range []string{sisterCSV("2"), sisterCRD("false")} {
			next.Manifests = append(next.Manifests, json.RawMessage(m))
		}
		w.Contents = append(w.Contents, next)
	})
	h.others = append(h.others, sister)
	h.rounds(5)
	h.approve(sister)
	h.rounds(15)
	if got := h.succeeded(sister); got != "u.v1" {
		t.Fatalf("the sister has %q", got)
	}
	return h
}

// approve approves the plans of a namespace.
func (h *hall) approve(namespace string) {
	h.edit(namespace, func(w *install.World) {
		for i := range w.Plans {
			w.Plans[i].Spec.Approved = true
		}
	})
}

// succeeded returns the operators of a namespace that are installed.
func (h *hall) succeeded(namespace string) string {
	var names []string
	w := h.backend.World(namespace)
	for i := range w.CSVs {
		if c := &w.CSVs[i]; c.Deployed != "" && c.Status.Phase == olm.PhaseSucceeded {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ")
}

// theirs is what belongs to the sister.
func (h *hall) theirs() string {
	w := h.backend.World(sister)
	var crds []install.CRD
	for _, c := range w.CRDs {
		if c.OwnedIn = nil; c.Home == sister {
			crds = append(crds, c)
		}
	}
	mine := func(o install.Object) bool { return o.Owner != sister && o.Namespace != sister }
	text, _ := json.Marshal([]any{w.CSVs, w.Subscriptions, crds, w.Conditions, slices.DeleteFunc(w.Objects, mine), slices.DeleteFunc(w.Generated, mine)})
	return string(text)
}

// sisterAttempts are what a tenant does to another.
func sisterAttempts() []attempt {
	const not, taken = install.ReasonNotPermitted, install.ReasonNameTaken
	one := func(spec string, more ...string) []string { return append([]string{tenantCSV(spec)}, more...) }
	owns := `"customresourcedefinitions":{"owned":[{"name":"us.u.example","version":"v1","kind":"U"}]}`
	targets := func(all ...string) func(w *install.World) {
		return regroup(func(g *install.OperatorGroup) { g.Spec.TargetNamespaces = all })
	}
	convert := func(config string) string {
		return strings.Replace(crdText("ts", "t.example", "T"), `"versions"`, `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{`+config+`}}},"versions"`, 1)
	}
	claim := func(targets ...string) func(w *install.World) {
		return regroup(func(g *install.OperatorGroup) {
			g.Annotations = map[string]string{group.ProvidedAPIsAnnotation: "U.v1.u.example"}
			g.Spec.StaticProvidedAPIs, g.Spec.TargetNamespaces, g.Status.Namespaces = true, targets, targets
		})
	}
	forge := func(group, kind, namespace, name string) func(w *install.World) {
		return func(w *install.World) {
			var p install.InstallPlan
			p.Name, p.Spec.Approved, p.Spec.Generation, p.Status.Phase = "install-7", true, 7, install.PlanComplete
			p.Spec.ClusterServiceVersionNames = []string{"t.v1"}
			manifest := `{"kind":"` + kind + `","metadata":{"name":"` + name + `","namespace":"` + namespace + `"}}`
			p.Status.Plan = []install.PlanStep{{Resolving: "t.v1", Status: install.StepCreated, Resource: install.StepResource{Group: group, Version: "v1", Kind: kind, Name: name, Manifest: manifest}}}
			w.Plans = append(w.Plans, p)
			byHand(strategy(""), "Succeeded")(w)
		}
	}
	same := func(w *install.World) {
		var s install.Subscription
		s.Name, s.Spec.Package, s.Spec.Channel, s.Spec.Source, s.Spec.StartingCSV = "u", "u", "stable", "shelf", "u.v1"
		s.Spec.InstallPlanApproval = olm.ApprovalManual
		w.Subscriptions = append(w.Subscriptions, s)
		c := install.Content{Source: olm.SourceKey{Name: "shelf"}, Bundle: "u.v1", Manifests: []json.RawMessage{[]byte(sisterCSV("1")), []byte(sisterCRD("true"))}}
		w.Contents = append(w.Contents, c)
	}
	leave := func(w *install.World) { w.CSVs, w.Subscriptions = nil, nil }
	return []attempt{
		{name: "the sister's CRD, another", bundle: one(owns+","+strategy(""), crdText("us", "u.example", "U")), reason: taken},
		{name: "the sister's CRD, word for word", bundle: one(owns+","+strategy(""), sisterCRD("true")), reason: taken},
		{name: "the sister's CRD, by the same operator", edit: same, install: true},
		{name: "the sister's CRD, by the same operator, and uninstalled", edit: same, install: true, meddle: leave},
		{name: "the sister's CRD, owned by hand", edit: byHand(owns+","+strategy(""), "Succeeded")},
		{name: "the sister's CRD, owned by hand for all", edit: byHand(owns+","+strategy(""), ""), meddle: targets()},
		{name: "the sister's CRD, owned in its namespace", edit: byHand(owns+","+strategy(""), "Succeeded"), meddle: targets(tenant, sister)},
		{name: "the next CRD of the sister, early", bundle: one(owns+","+strategy(""), sisterCRD("false")), reason: taken},
		{name: "the sister's API, claimed", edit: claim(tenant, sister)},
		{name: "the sister's API, claimed everywhere", edit: claim("")},
		{name: "copies in the sister's namespace", bundle: one(strategy("")), meddle: targets(tenant, sister), reason: not},
		{name: "permissions in the sister's namespace", edit: byHand(strategy(`"permissions":[{"serviceAccountName":"default","rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}]`), "Succeeded"), meddle: targets(tenant, sister), reason: not},
		{name: "the name of the sister's CSV, copied there", edit: func(w *install.World) {
			byHand(strategy(""), "Succeeded")(w)
			w.CSVs[len(w.CSVs)-1].Name = "u.v2"
			targets(tenant, sister)(w)
		}},
		{name: "the sister's CSV is replaced by one elsewhere", edit: func(w *install.World) {
			byHand(`"replaces":"u.v1",`+strategy(""), "Succeeded")(w)
			targets(tenant, sister)(w)
		}},
		{name: "the sister's account", edit: regroup(func(g *install.OperatorGroup) { g.Spec.ServiceAccountName = "../sister/small" }), bundle: one(strategy("")), reason: group.ServiceAccountMissing},
		{name: "an object of the sister's namespace", bundle: one(strategy(""), `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"u-op","namespace":"sister"}}`), install: true},
		{name: "an object that the sister's objects own", bundle: one(strategy(""), `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"sister","uid":"x","blockOwnerDeletion":true}],"finalizers":["t.example/never"]}}`), install: true},
		{name: "a plan that says the sister's CRD is its own, and uninstalled", edit: forge("apiextensions.k8s.io", "CustomResourceDefinition", "", "us.u.example"), meddle: leave},
		{name: "a plan that says a role of the sister's API is its own", edit: forge("rbac.authorization.k8s.io", "ClusterRole", "", "us.u.example-v1-admin"), meddle: leave},
		{name: "a plan that says the sister's CSV is its own", edit: forge("operators.coreos.com", "ClusterServiceVersion", sister, "u.v1"), meddle: leave},
		{name: "a conversion by an address of its choice", bundle: one(strategy(""), convert(`"url":"https://169.254.169.254/latest"`)), reason: not},
		{name: "a conversion by the sister's service", bundle: one(strategy(""), convert(`"service":{"namespace":"sister","name":"u-op-service","path":"/reset"}`)), reason: not},
		{name: "a conversion by its own service", bundle: one(strategy(""), convert(`"service":{"namespace":"tenant","name":"t-op-service"}`)), install: true},
		{name: "a conversion by an address, in the old form", bundle: one(strategy(""), strings.Replace(crdText("ts", "t.example", "T"), `"versions"`, `"conversion":{"strategy":"Webhook","webhookClientConfig":{"url":"https://10.0.0.1"}},"versions"`, 1)), reason: not},
		{name: "a subscription to the sister's catalog", edit: func(w *install.World) {
			var s install.Subscription
			s.Name, s.Spec.Package, s.Spec.Channel, s.Spec.Source, s.Spec.SourceNamespace = "u", "u", "stable", "shelf", sister
			w.Subscriptions = append(w.Subscriptions, s)
		}},
		{name: "an end of the sister's conversion", edit: byHand(hook("ConversionWebhook", `,"conversionCRDs":["us.u.example"]`)+","+strategy(""), "Failed")},
		{name: "a name that a role of the sister's API would have", bundle: one(`"customresourcedefinitions":{"owned":[{"name":"us.u.example-v1","version":"v1","kind":"T"}]},`+strategy(""), crdText("us", "u.example-v1", "T")), install: true},
	}
}

// TestSisters lets a tenant do to another what it can.
func TestSisters(t *testing.T) {
	for _, a := range sisterAttempts() {
		t.Run(a.name, func(t *testing.T) {
			h := newSisters(t)
			before := h.theirs()
			h.edit(tenant, func(w *install.World) {
				if a.bundle != nil {
					h.subscribe(w, "t", a.bundle...)
				}
				if a.edit != nil {
					a.edit(w)
				}
			})
			h.rounds(5)
			h.approve(tenant)
			h.rounds(15)
			if a.meddle != nil {
				h.attempted(&a)
				h.edit(tenant, a.meddle)
				h.rounds(25)
			} else {
				h.attempted(&a)
			}
			if after := h.theirs(); after != before {
				t.Errorf("what is the sister's is no longer as it was:\n%s\n%s", before, after)
			}
			h.approve(sister)
			h.rounds(15)
			if got := h.succeeded(sister); got != "u.v2" {
				t.Errorf("the sister has %q, not u.v2", got)
			}
			for _, c := range h.backend.World(sister).CRDs {
				if c.Name == "us.u.example" && c.Definition.Spec.Versions[0].Served {
					t.Error("the sister's CRD was not updated")
				}
			}
			if h.wrong != nil {
				t.Errorf("written for the tenant: %s", strings.Join(h.wrong, "\n"))
			}
			if a.reason != "" && !h.blocked[a.reason] {
				t.Errorf("the tenant is not told: no %s among %v", a.reason, h.blocked)
			}
		})
	}
}

// attempted checks whether the operator of the tenant's bundle is installed.
func (h *hall) attempted(a *attempt) {
	h.t.Helper()
	if installed := h.succeeded(tenant) != ""; (a.bundle != nil || a.install) && installed != (a.install || a.meddle != nil) {
		h.t.Errorf("installed: %v, %v", installed, h.blocked)
	}
}
