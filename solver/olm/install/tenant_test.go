package install_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// A tenant has full power over the objects of its namespace, and a service account that
// may write little there. It tries to have more written for it, or to keep others from
// what is theirs. Whatever it does, only what its account may write is written, in the
// account's name, and the operator of namespace host stays as it is.

const (
	host   = "host"
	tenant = "tenant"
)

// hall is a cluster with a host, whose operator has all that the API server can call,
// and a tenant.
type hall struct {
	t       *testing.T
	backend *install.MemBackend
	runner  *install.Runner
	clock   *fairlead.ManualClock
	blocked map[string]bool // the reasons of the tenant's blocks
	wrong   []string
	objects map[install.Ref]bool // what was written for the tenant
	others  []string             // namespaces with passes of their own, beside host and tenant
}

const hostCSV = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"h.v1"},"spec":{"version":"1.0.0","installModes":[{"type":"AllNamespaces","supported":true}],"customresourcedefinitions":{"owned":[{"name":"hs.h.example","version":"v1","kind":"H"}]},"apiservicedefinitions":{"owned":[{"name":"ss","group":"s.example","version":"v1","kind":"S","deploymentName":"h-op"}]},"webhookdefinitions":[{"type":"ValidatingAdmissionWebhook","generateName":"vh.h.example","deploymentName":"h-op","admissionReviewVersions":["v1"],"sideEffects":"None"},{"type":"ConversionWebhook","generateName":"ch.h.example","deploymentName":"h-op","conversionCRDs":["hs.h.example"],"webhookPath":"/convert","admissionReviewVersions":["v1"],"sideEffects":"None"}],"install":{"strategy":"deployment","spec":{"clusterPermissions":[{"serviceAccountName":"h-op","rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}],"deployments":[{"name":"h-op","spec":{"selector":{"matchLabels":{"app":"h"}},"template":{"spec":{"serviceAccountName":"h-op","containers":[{"name":"op"}]}}}}]}}}}`

func crdText(name, apiGroup, kind string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.%s"},"spec":{"group":"%[2]s","names":{"plural":"%[1]s","kind":"%[3]s"},"versions":[{"name":"v1","served":true,"storage":true}]}}`, name, apiGroup, kind)
}

// tenantCSV is a CSV with one deployment and members of its spec.
func tenantCSV(spec string) string {
	if spec != "" {
		spec = "," + spec
	}
	return `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"t.v1"},"spec":{"version":"1.0.0","installModes":[{"type":"OwnNamespace","supported":true},{"type":"SingleNamespace","supported":true},{"type":"MultiNamespace","supported":true},{"type":"AllNamespaces","supported":true}]` + spec + `}}`
}

// strategy is the install strategy of one deployment, with members of its spec.
func strategy(more string) string {
	if more != "" {
		more += ","
	}
	return `"install":{"strategy":"deployment","spec":{` + more + `"deployments":[{"name":"t-op","spec":{"selector":{"matchLabels":{"app":"t"}},"template":{"spec":{"serviceAccountName":"default","containers":[{"name":"op"}]}}}}]}}`
}

func newHall(t *testing.T) *hall {
	h := &hall{t: t, clock: new(fairlead.ManualClock), blocked: map[string]bool{}, objects: map[install.Ref]bool{}}
	h.clock.Set(start)
	h.backend = &install.MemBackend{Sources: parseShelf("h/stable h.v1\nt/stable t.v1").sources(t), Changed: h.check}
	r, err := olm.NewResolver(h.backend.Sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.resume(r)
	h.edit(host, func(w *install.World) {
		w.Namespaces = []olm.ObjectMeta{{Name: host}, {Name: tenant}, {Name: "kube-system"}}
		w.Groups = make([]install.OperatorGroup, 1)
		w.Groups[0].Name = "g"
		h.subscribe(w, "h", hostCSV, crdText("hs", "h.example", "H"))
		rules := []scope.PolicyRule{
			{Verbs: []string{"create", "get", "update", "patch"}, APIGroups: []string{"operators.coreos.com"}, Resources: []string{"clusterserviceversions", "subscriptions"}},
			{Verbs: []string{"create", "get", "update", "patch"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}},
			{Verbs: []string{"create", "get", "update", "patch"}, APIGroups: []string{""}, Resources: []string{"serviceaccounts", "services", "secrets", "configmaps"}},
		}
		meta := scope.ObjectMeta{Name: "small", Namespace: tenant}
		w.Access.Roles = []scope.Role{{ObjectMeta: meta, Rules: rules}}
		w.Access.Bindings = []scope.Binding{{ObjectMeta: meta, RoleRef: scope.RoleRef{Kind: "Role", Name: "small"}, Subjects: []scope.Subject{{Kind: "ServiceAccount", Name: "small", Namespace: tenant}}}}
		w.Accounts = []scope.Account{{Namespace: tenant, Name: "small"}}
	})
	h.rounds(20)
	h.edit(tenant, func(w *install.World) {
		w.Groups = append(w.Groups, install.OperatorGroup{})
		g := &w.Groups[len(w.Groups)-1]
		g.Name, g.Namespace = "g", tenant
		g.Spec.TargetNamespaces, g.Spec.ServiceAccountName = []string{tenant}, "small"
	})
	return h
}

// resume starts the engine with a resolver.
func (h *hall) resume(r *olm.Resolver) {
	h.t.Helper()
	policy := &install.Policy{RequireAccount: true, Unlimited: []string{host}, PlanTimeout: -1}
	var err error
	if h.runner, err = install.NewRunner(h.backend, r.Resolve, policy, &fairlead.RunnerOptions{Clock: h.clock}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hall) subscribe(w *install.World, pkg string, manifests ...string) {
	var s install.Subscription
	s.Name, s.Spec.Package, s.Spec.Channel, s.Spec.Source = pkg, pkg, "stable", "shelf"
	w.Subscriptions = append(w.Subscriptions, s)
	c := install.Content{Source: olm.SourceKey{Name: "shelf"}, Bundle: pkg + ".v1"}
	for _, m := range manifests {
		c.Manifests = append(c.Manifests, json.RawMessage(m))
	}
	w.Contents = append(w.Contents, c)
}

func (h *hall) edit(namespace string, f func(w *install.World)) {
	h.t.Helper()
	if err := h.backend.Edit(namespace, func(w *install.World) error { f(w); return nil }); err != nil {
		h.t.Fatal(err)
	}
}

// rounds makes passes over both namespaces.
func (h *hall) rounds(n int) {
	for range n {
		for _, namespace := range append([]string{tenant, host}, h.others...) {
			d, err := h.runner.Reconcile(h.t.Context(), namespace)
			if err != nil && namespace != tenant {
				h.t.Errorf("%s: %v", namespace, err)
			}
			if err != nil && !strings.Contains(err.Error(), "has changed") {
				h.wrong = append(h.wrong, "refused by the backend, and not before: "+err.Error())
			}
			if namespace == tenant {
				for _, b := range d.Blocked {
					h.blocked[b.Reason] = true
				}
			}
		}
		h.clock.Advance(time.Second)
	}
}

// check is called for each change.
func (h *hall) check(namespace string, a install.Action) {
	if namespace != tenant {
		return
	}
	fail := func() { h.wrong = append(h.wrong, fmt.Sprintf("%T %s", a, a)) }
	switch a := a.(type) {
	case install.ApplyStep:
		h.objects[a.Ref] = true
		if a.As != "small" && a.Ref.Kind != "CustomResourceDefinition" || a.Ref.Namespace != tenant && a.Ref.Kind != "CustomResourceDefinition" {
			fail()
		}
	case install.WriteObject:
		h.objects[a.Ref] = true
		own := strings.HasPrefix(a.Ref.Name, "olm.og.") || strings.HasPrefix(a.Ref.Name, "ts.t.example-") || strings.HasPrefix(a.Ref.Name, "us.u.example-v1-v1-")
		if own != (a.As == "") || a.Ref.Namespace != tenant && !own {
			fail()
		}
	case install.Deploy:
		if a.As != "small" {
			fail()
		}
	case install.IssueCertificate:
		if a.As != "small" {
			fail()
		}
	case install.DeleteObject:
		if !h.objects[a.Ref] {
			fail()
		}
	case install.SetConversion:
		if a.CRD != "ts.t.example" {
			fail()
		}
	}
}

// scene is what belongs to the host, as one text.
func (h *hall) scene() string {
	w := h.backend.World(host)
	for i := range w.CRDs {
		w.CRDs[i].OwnedIn = nil
	}
	w.Groups, w.Objects = w.Groups[:1], slices.DeleteFunc(w.Objects, func(o install.Object) bool { return o.Home == tenant })
	w.Generated = slices.DeleteFunc(w.Generated, func(o install.Object) bool { return o.Owner == tenant })
	w.CRDs = slices.DeleteFunc(w.CRDs, func(c install.CRD) bool { return c.Home == tenant })
	w.APIServices = slices.DeleteFunc(w.APIServices, func(n string) bool { return strings.HasPrefix(n, "v1.t.") })
	text, _ := json.Marshal(w)
	return string(text)
}

type attempt struct {
	name    string
	bundle  []string               // what the tenant's catalog has
	edit    func(w *install.World) // what it writes itself
	meddle  func(w *install.World) // after it was installed
	reason  string                 // a reason that tells it why not
	install bool                   // the operator is installed all the same
	foreign func(w *install.World) // objects that others have made before
	allow   []fairlead.PolicyRule  // more rights of its account in the whole cluster
	_       struct{}
}

func owned(kind string) string {
	return `"apiservicedefinitions":{"owned":[` + kind + `]}`
}

func hook(kind, more string) string {
	return `"webhookdefinitions":[{"type":"` + kind + `","generateName":"w.t.example","deploymentName":"t-op","admissionReviewVersions":["v1"],"sideEffects":"None"` + more + `}]`
}

func byHand(spec, phase string) func(w *install.World) {
	return func(w *install.World) {
		w.Subscriptions = nil
		var c install.CSV
		if err := json.Unmarshal([]byte(tenantCSV(spec)), &c.ClusterServiceVersion); err != nil {
			panic(err)
		}
		c.Status.Phase = olm.Phase(phase)
		w.CSVs = append(w.CSVs, c)
	}
}

func regroup(f func(g *install.OperatorGroup)) func(w *install.World) {
	return func(w *install.World) {
		for i := range w.Groups {
			if w.Groups[i].Namespace == tenant {
				f(&w.Groups[i])
			}
		}
	}
}

func attempts() []attempt {
	const not, taken = install.ReasonNotPermitted, install.ReasonNameTaken
	one := func(spec string, more ...string) []string { return append([]string{tenantCSV(spec)}, more...) }
	rbac := func(kind, name, more string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"` + kind + `","metadata":{"name":"` + name + `"},` + more + `}`
	}
	all := `"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]`
	admin := `"roleRef":{"kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"ServiceAccount","name":"default","namespace":"tenant"}]`
	ownsHost := `"customresourcedefinitions":{"owned":[{"name":"hs.h.example","version":"v1","kind":"H"}]}`
	ownsOwn := `"customresourcedefinitions":{"owned":[{"name":"ts.t.example","version":"v1","kind":"T"}]}`
	everywhere := regroup(func(g *install.OperatorGroup) { g.Spec.TargetNamespaces = nil })
	system := regroup(func(g *install.OperatorGroup) { g.Spec.TargetNamespaces = []string{tenant, "kube-system"} })
	return []attempt{
		{name: "nothing: an operator that stays within its account", bundle: one(strategy("")), install: true},
		{name: "nothing: an operator with a CRD of its own", bundle: one(ownsOwn+","+strategy(""), crdText("ts", "t.example", "T")), install: true},
		{name: "mutating webhook", bundle: one(hook("MutatingAdmissionWebhook", `,"rules":[{"operations":["*"],"apiGroups":["rbac.authorization.k8s.io"],"apiVersions":["v1"],"resources":["clusterrolebindings"]}]`) + "," + strategy("")), reason: not},
		{name: "validating webhook", bundle: one(hook("ValidatingAdmissionWebhook", "") + "," + strategy("")), reason: not},
		{name: "new API service", bundle: one(owned(`{"name":"x","group":"metrics.k8s.io","version":"v1beta1","kind":"X","deploymentName":"t-op"}`) + "," + strategy("")), reason: not},
		{name: "API service of the host", bundle: one(owned(`{"name":"ss","group":"s.example","version":"v1","kind":"Valve","deploymentName":"t-op"}`) + "," + strategy("")), reason: install.ReasonNotPermitted},
		{name: "API service of nobody known", bundle: one(owned(`{"name":"x","group":"x.example","version":"v1","kind":"X","deploymentName":"t-op"}`) + "," + strategy("")), reason: not,
			foreign: func(w *install.World) {
				w.Generated = append(w.Generated, install.Object{Ref: install.Ref{Group: "apiregistration.k8s.io", Kind: "APIService", Name: "v1.x.example"}})
			}},
		{name: "API service of the host, and the account may write any", reason: install.ReasonOwnerConflict, edit: byHand(owned(`{"name":"ss","group":"s.example","version":"v1","kind":"Valve","deploymentName":"t-op"}`)+","+strategy(""), ""),
			allow: []fairlead.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}},
		{name: "CRD of the host", bundle: one(strategy(""), strings.Replace(crdText("hs", "h.example", "H"), `"v1"`, `"v2"`, 2)), reason: taken},
		{name: "CRD of nobody known", bundle: one(strategy(""), crdText("xs", "x.example", "X")), reason: taken, foreign: func(w *install.World) {
			var c install.CRD
			c.Name, c.Established = "xs.x.example", true
			w.CRDs = append(w.CRDs, c)
		}},
		{name: "CRD in a group of Kubernetes", bundle: one(strategy(""), crdText("clusterroles", "rbac.authorization.k8s.io", "ClusterRole")), reason: taken},
		{name: "conversion of the host's CRD", edit: byHand(ownsHost+","+hook("ConversionWebhook", `,"conversionCRDs":["hs.h.example"]`)+","+strategy(""), "Succeeded"), meddle: everywhere},
		{name: "end of the conversion of the host's CRD", edit: byHand(hook("ConversionWebhook", `,"conversionCRDs":["hs.h.example"]`)+","+strategy(""), "Failed")},
		{name: "ClusterRole", bundle: one(strategy(""), rbac("ClusterRole", "mine", all)), reason: not},
		{name: "ClusterRole of others", bundle: one(strategy(""), rbac("ClusterRole", "view", all)), reason: taken, foreign: func(w *install.World) {
			w.Objects = append(w.Objects, install.Object{Ref: install.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "view"}})
		}},
		{name: "ClusterRoleBinding", bundle: one(strategy(""), rbac("ClusterRoleBinding", "mine", admin)), reason: not},
		{name: "RoleBinding", bundle: one(strategy(""), rbac("RoleBinding", "mine", admin)), reason: not},
		{name: "Role", bundle: one(strategy(""), rbac("Role", "mine", all)), reason: not},
		{name: "permissions", bundle: one(strategy(`"permissions":[{"serviceAccountName":"t-op",` + all + `}]`)), reason: not},
		{name: "permissions of the whole cluster", bundle: one(strategy(`"clusterPermissions":[{"serviceAccountName":"t-op",` + all + `}]`)), reason: not},
		{name: "permissions in kube-system", edit: byHand(strategy(`"permissions":[{"serviceAccountName":"default",`+all+`}]`), ""), meddle: system, reason: not},
		{name: "permissions everywhere", edit: byHand(strategy(`"permissions":[{"serviceAccountName":"default",`+all+`}]`), "Succeeded"), meddle: everywhere, reason: not},
		{name: "copies in kube-system", bundle: one(strategy("")), meddle: system, reason: not},
		{name: "copies everywhere", bundle: one(strategy("")), meddle: everywhere, reason: not},
		{name: "copy of the host's CSV name", edit: func(w *install.World) {
			byHand(strategy(""), "Succeeded")(w)
			w.CSVs[len(w.CSVs)-1].Name = "h.v1"
			everywhere(w)
		}},
		{name: "a group without an account", bundle: one(strategy("")), edit: regroup(func(g *install.OperatorGroup) { g.Spec.ServiceAccountName = "" }), reason: install.ReasonAccountRequired},
		{name: "a group without an account, later", bundle: one(hook("MutatingAdmissionWebhook", "") + "," + strategy("")), meddle: regroup(func(g *install.OperatorGroup) { g.Spec.ServiceAccountName = "" }), reason: install.ReasonAccountRequired},
		{name: "another account", bundle: one(strategy("")), edit: regroup(func(g *install.OperatorGroup) { g.Spec.ServiceAccountName = "other" }), reason: group.ServiceAccountMissing},
		{name: "two groups", bundle: one(strategy("")), edit: func(w *install.World) {
			g := install.OperatorGroup{}
			g.Name, g.Namespace = "h", tenant
			w.Groups = append(w.Groups, g)
		}, reason: "TooManyOperatorGroups"},
		{name: "no group", bundle: one(strategy("")), edit: func(w *install.World) {
			w.Groups = slices.DeleteFunc(w.Groups, func(g install.OperatorGroup) bool { return g.Namespace == tenant })
		}, reason: "NoOperatorGroup"},
		{name: "two groups once it is to be deployed", edit: func(w *install.World) {
			byHand(strategy(""), "InstallReady")(w)
			g := install.OperatorGroup{}
			g.Name, g.Namespace = "h", tenant
			w.Groups = append(w.Groups, g)
		}},
		{name: "the host's API, claimed by hand", edit: regroup(func(g *install.OperatorGroup) {
			g.Annotations = map[string]string{group.ProvidedAPIsAnnotation: "H.v1.h.example,S.v1.s.example"}
			g.Spec.StaticProvidedAPIs = true
		})},
		{name: "the host's API, claimed everywhere", edit: regroup(func(g *install.OperatorGroup) {
			g.Annotations = map[string]string{group.ProvidedAPIsAnnotation: "H.v1.h.example,S.v1.s.example"}
			g.Spec.TargetNamespaces = nil
			g.Status.Namespaces = []string{""}
		})},
		{name: "the host's API, provided", edit: byHand(ownsHost+","+strategy(""), ""), meddle: everywhere},
		{name: "roles for the host's API", edit: byHand(ownsHost+","+strategy(""), "Succeeded")},
		{name: "roles for an API of Kubernetes", edit: byHand(`"customresourcedefinitions":{"owned":[{"name":"rolebindings.rbac.authorization.k8s.io","version":"v1","kind":"RoleBinding"}]},`+strategy(""), "Succeeded")},
		{name: "roles for the host's aggregated API", edit: byHand(owned(`{"name":"ss","group":"s.example","version":"v1","kind":"S","deploymentName":"t-op"}`)+","+strategy(""), "Succeeded")},
		{name: "webhook of a CSV made by hand", edit: byHand(hook("MutatingAdmissionWebhook", "")+","+strategy(""), "Succeeded"), reason: not},
		{name: "webhook of a CSV that calls itself ready", edit: byHand(hook("MutatingAdmissionWebhook", "")+","+strategy(""), "Installing"), reason: not},
		{name: "PriorityClass", bundle: one(strategy(""), `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"top"},"value":1000000000}`), reason: not},
		{name: "ConsolePlugin", bundle: one(strategy(""), `{"apiVersion":"console.openshift.io/v1","kind":"ConsolePlugin","metadata":{"name":"p"}}`), reason: not},
		{name: "an object that asks for another namespace", bundle: one(strategy(""), `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"kube-system"}}`), install: true},
		{name: "a plan made by hand", edit: func(w *install.World) {
			var p install.InstallPlan
			p.Name, p.Spec.Approved, p.Spec.Generation, p.Status.Phase = "install-7", true, 7, install.PlanInstalling
			p.Spec.ClusterServiceVersionNames = []string{"t.v1"}
			p.Status.Plan = []install.PlanStep{{Resolving: "t.v1", Resource: install.StepResource{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding", Name: "mine", Manifest: rbac("ClusterRoleBinding", "mine", admin)}}}
			w.Plans = append(w.Plans, p)
		}},
		{name: "a plan whose steps are changed", bundle: one(strategy(`"permissions":[{"serviceAccountName":"t-op",` + all + `}]`)), reason: install.ReasonPlanChanged, meddle: func(w *install.World) {
			for i := range w.Plans {
				for j := range w.Plans[i].Status.Plan {
					w.Plans[i].Status.Plan[j].Resource.Manifest = rbac("ClusterRoleBinding", "mine", admin)
				}
			}
		}},
	}
}

func TestTenant(t *testing.T) {
	for _, a := range attempts() {
		t.Run(a.name, func(t *testing.T) {
			h := newHall(t)
			if a.foreign != nil {
				h.edit(host, a.foreign)
				h.rounds(2)
			}
			if a.allow != nil {
				h.edit(host, func(w *install.World) {
					meta := scope.ObjectMeta{Name: "large"}
					w.Access.Roles = append(w.Access.Roles, scope.Role{ObjectMeta: meta, Rules: a.allow})
					w.Access.Bindings = append(w.Access.Bindings, scope.Binding{ObjectMeta: meta, RoleRef: scope.RoleRef{Kind: "ClusterRole", Name: "large"}, Subjects: []scope.Subject{{Kind: "ServiceAccount", Name: "small", Namespace: tenant}}})
				})
			}
			before := h.scene()
			h.edit(tenant, func(w *install.World) {
				if a.bundle != nil {
					h.subscribe(w, "t", a.bundle...)
				}
				if a.edit != nil {
					a.edit(w)
				}
			})
			h.rounds(15)
			if a.meddle != nil {
				h.edit(tenant, a.meddle)
				h.rounds(25)
			}
			if after := h.scene(); after != before {
				t.Errorf("the host is no longer as it was:\n%s\n%s", before, after)
			}
			if h.wrong != nil {
				t.Errorf("written for the tenant: %s", strings.Join(h.wrong, "\n"))
			}
			if a.reason != "" && !h.blocked[a.reason] {
				t.Errorf("the tenant is not told: no %s among %v", a.reason, slices.Sorted(maps.Keys(h.blocked)))
			}
			installed := slices.ContainsFunc(h.backend.World(tenant).CSVs, func(c install.CSV) bool {
				return c.Name == "t.v1" && c.Deployed != "" && c.Status.Phase == olm.PhaseSucceeded
			})
			if a.bundle != nil && installed != a.install {
				t.Errorf("installed: %v, want %v: %v", installed, a.install, slices.Sorted(maps.Keys(h.blocked)))
			}
		})
	}
}
