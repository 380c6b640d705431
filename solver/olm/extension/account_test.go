package extension_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// allowed is a cluster in which account installer of namespace ns may do everything, or
// all but write some resources.
func allowed(but ...string) extension.Cluster {
	resources := []string{"*"}
	if but != nil {
		resources = but
	}
	c := extension.Cluster{Accounts: []scope.Account{{Namespace: "ns", Name: "installer"}}}
	rules := []scope.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: resources}}
	c.Access.Roles = []scope.Role{{ObjectMeta: scope.ObjectMeta{Name: "r"}, Rules: rules}}
	c.Access.Bindings = []scope.Binding{{ObjectMeta: scope.ObjectMeta{Name: "r"}, RoleRef: scope.RoleRef{Kind: "ClusterRole", Name: "r"}, Subjects: []scope.Subject{{Kind: "ServiceAccount", Namespace: "ns", Name: "installer"}}}}
	return c
}

// TestAccount: objects are written and deleted as the extension's service account, except CRDs; what
// it may not write or delete any more is refused, and the status of an extension that goes says so, also when the revision has begun; and where the
// policy requires an account, nothing is installed without one.
func TestAccount(t *testing.T) {
	h := newHarbour(newShop(t))
	h.SetCluster(allowed())
	writes := map[string]int{}
	h.Changed = func(_ string, a extension.Action) {
		if o, is := a.(extension.DeleteObject); is && (o.As == "") != (o.Ref.Kind == "CustomResourceDefinition") {
			t.Errorf("%s is deleted as %q", o.Ref, o.As)
		}
		if o, is := a.(extension.ApplyObject); is {
			writes[o.As]++
			if (o.As == "") != (o.Ref.Kind == "CustomResourceDefinition") {
				t.Errorf("%s is written as %q", o.Ref, o.As)
			}
		}
	}
	var clock fairlead.ManualClock
	run := passes(t, h, &clock, new(int))
	x := asks("")
	x.Spec.Namespace, x.Spec.ServiceAccount.Name = "ns", ""
	h.PutExtension(x)
	if why := run(); !why[extension.ReasonPreflight] || len(writes) > 0 {
		t.Errorf("without an account: %v, %v", why, writes)
	}
	x.Spec.ServiceAccount.Name = "installer"
	h.PutExtension(x)
	if why := run(); len(why) > 0 || writes["installer"] == 0 {
		t.Fatalf("with an account: %v, %v", why, writes)
	}
	h.SetCluster(allowed("configmaps"))
	for _, o := range h.World("a").Objects {
		if o.Kind == "Deployment" {
			h.MemBackend.DeleteObject(o.Ref)
		}
	}
	before := writes["installer"]
	if why := run(); !why[extension.ReasonPreflight] || writes["installer"] != before {
		t.Errorf("what was lost is restored although the account may not: %v, %d writes", why, writes["installer"]-before)
	}
	h.SetCluster(allowed("deployments"))
	run()
	h.SetCluster(allowed("configmaps"))
	h.DeleteExtension("a", clock.Now())
	why, left := run(), h.World("a")
	if !why[extension.ReasonTeardown] || left.Extension == nil {
		t.Fatalf("it went although its account may not delete its objects: %v", why)
	}
	if c := fairlead.FindCondition(left.Extension.Status.Conditions, extension.TypeProgressing); c == nil || !strings.Contains(c.Message, "may not delete it") {
		t.Errorf("its status: %+v", c)
	}
	h.SetCluster(allowed())
	if run(); h.World("a").Extension != nil {
		t.Error("it stays although its account may delete its objects")
	}
}

// passes returns what makes passes of extension a until nothing moves, under a policy that requires
// accounts, and says for what reasons it is blocked then, and how often because of a preflight.
func passes(t *testing.T, h *harbour, clock *fairlead.ManualClock, said *int) func() map[string]bool {
	t.Helper()
	clock.Set(noon)
	r, err := extension.NewRunner(h, h.resolve, &extension.Policy{RequireAccount: true}, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return func() (reasons map[string]bool) {
		for range 60 {
			reasons, *said = map[string]bool{}, 0
			d, err := r.Reconcile(t.Context(), "a")
			var refused *fairlead.RefusedError
			if err != nil && !errors.As(err, &refused) {
				t.Fatal(err)
			}
			for _, b := range d.Blocks() {
				reasons[b.Reason] = true
				if b.Reason == extension.ReasonPreflight {
					*said++
				}
			}
			clock.Advance(5 * time.Second)
		}
		return reasons
	}
}

// TestAccountIsTaken: where the policy requires an account, an extension that names none any more has
// nothing written and nothing deleted: it would be with the rights of the backend.
func TestAccountIsTaken(t *testing.T) {
	h := newHarbour(newShop(t))
	h.SetCluster(allowed())
	var clock fairlead.ManualClock
	said := 0
	run := passes(t, h, &clock, &said)
	x := asks("")
	x.Spec.Namespace, x.Spec.ServiceAccount.Name = "ns", "installer"
	h.PutExtension(x)
	if why := run(); len(why) > 0 || len(h.World("a").Objects) == 0 {
		t.Fatalf("it is not installed: %v", why)
	}
	named := func(name string) {
		x := *h.World("a").Extension
		x.Spec.ServiceAccount.Name = name
		h.PutExtension(x)
	}
	named("")
	for _, o := range h.World("a").Objects {
		if o.Kind == "Deployment" {
			h.MemBackend.DeleteObject(o.Ref)
		}
	}
	h.Changed = func(_ string, a extension.Action) {
		switch a.(type) {
		case extension.ApplyObject, extension.DeleteObject:
			t.Errorf("with the rights of the backend: %s", a)
		}
	}
	if why := run(); !why[extension.ReasonPreflight] || said != 1 {
		t.Errorf("told %d times: %v", said, why)
	}
	h.DeleteExtension("a", clock.Now())
	if why := run(); !why[extension.ReasonPreflight] || said != 1 || h.World("a").Extension == nil {
		t.Errorf("it goes, or it is told %d times: %v", said, why)
	}
	h.Changed = func(string, extension.Action) {}
	named("installer")
	if run(); h.World("a").Extension != nil {
		t.Error("it stays although it names its account again")
	}
}
