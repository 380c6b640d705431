package operators_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// limited is a world whose operator group names service account small. as has what is
// written in its name; what is in refuse is refused, by kind.
func limited(t *testing.T, refuse ...string) (w *world, as func() []string) {
	t.Helper()
	var all []string
	opts := &operators.BackendOptions{As: func(namespace, account string) (client.Client, error) {
		if namespace != ns || account != "small" {
			return nil, errors.New("no such account")
		}
		return interceptor.NewClient(w.client, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				all = append(all, "Secret "+o.GetName())
				return c.Create(ctx, o, opts...)
			},
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				t.Error("it reads in the name of the account")
				return errors.New("not allowed")
			},
			Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				u := o.(interface {
					GetKind() string
					GetName() string
				})
				if slices.Contains(refuse, u.GetKind()) {
					return apierrors.NewForbidden(rbacv1.Resource("things"), u.GetName(), errors.New("not allowed"))
				}
				all = append(all, u.GetKind()+" "+u.GetName())
				return c.Apply(ctx, o, opts...)
			},
		}), nil
	}}
	w = newWorld(t, opts)
	return w, func() []string { return all }
}

// grant makes service account small and gives it everything, in the namespace or in the
// whole cluster.
func (w *world) grant(everywhere bool) {
	w.t.Helper()
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "small"}})
	rules := []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "small"}}
	if everywhere {
		w.create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Rules: rules})
		w.create(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "small"}})
		return
	}
	w.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "small"}, Rules: rules})
	w.create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "small"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "small"}})
}

// regroup makes the operator group name service account small, and select what is given.
func (w *world) regroup(targets ...any) {
	w.t.Helper()
	group := w.get(groupKind, ns, "plumbing")
	spec := map[string]any{"serviceAccountName": "small"}
	if targets != nil {
		spec["targetNamespaces"] = targets
	}
	group.Object["spec"] = spec
	w.must(w.client.Update(w.t.Context(), group))
}

// TestLimitedInstall installs an operator in the name of an account: all but the CRD and the roles for its API.
func TestLimitedInstall(t *testing.T) {
	w, as := limited(t)
	pipes := onlyPipes()
	w.stock("Automatic", pipes)
	w.grant(true) // the operator has permissions in the whole cluster
	w.regroup(ns)
	if d, errs := w.run(60); errs != nil || len(d.Blocked) > 0 {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	w.wantPhases(map[string]string{pipes.Name(): "Succeeded"})
	var own []string
	for _, write := range w.writes {
		if kind, is := strings.CutPrefix(write, "apply "); is {
			own = append(own, kind)
		}
	}
	for _, write := range own {
		if !strings.HasPrefix(write, "CustomResourceDefinition ") && !strings.HasPrefix(write, "ClusterRole olm.og.") && !strings.HasPrefix(write, "ClusterRole pipes."+shelf.Group) {
			t.Errorf("written with the rights of the controller: %s", write)
		}
	}
	for _, want := range []string{"ClusterServiceVersion " + pipes.Name(), "Deployment pipes", "ServiceAccount pipes"} {
		if !slices.Contains(as(), want) {
			t.Errorf("%s was not written in the name of the account: %v", want, as())
		}
	}
}

// TestLimitedWebhooks: an operator that the API server calls writes for the whole
// cluster, which the account must be allowed to.
func TestLimitedWebhooks(t *testing.T) {
	w, as := limited(t)
	w.stock("Automatic", meters())
	w.grant(false)
	w.regroup()
	d, errs := w.run(60)
	if errs != nil || !slices.Contains(reasons(d.Blocked), install.ReasonNotPermitted) {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	if n := len(w.all(validatingKind)) + len(w.all(mutatingKind)) + len(w.all(apiServiceKind)) + len(w.all(kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"))); n > 0 || len(as()) > 0 {
		t.Errorf("%d cluster-scoped objects are written, and %v", n, as())
	}

	w, as = limited(t)
	w.stock("Automatic", meters())
	w.grant(true)
	w.regroup()
	if d, errs := w.run(80); errs != nil || len(d.Blocked) > 0 {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	for _, want := range []string{"Secret " + certificate, "Service pipes-service", "APIService v1." + (&shelf.Version{Package: "pipes"}).APIGroup()} {
		if !slices.Contains(as(), want) {
			t.Errorf("%s was not written in the name of the account: %v", want, as())
		}
	}
}

// TestLimitedByTheServer: the server has the last word.
func TestLimitedByTheServer(t *testing.T) {
	w, _ := limited(t, "Deployment")
	w.stock("Automatic", onlyPipes())
	w.grant(true) // the operator has permissions in the whole cluster
	w.regroup(ns)
	var refused bool
	for range 20 {
		_, err := w.pass()
		refused = refused || err != nil && strings.Contains(err.Error(), "forbidden")
	}
	if !refused || len(w.all(deploymentsKind)) > 0 {
		t.Errorf("refused: %v, deployments: %v", refused, w.all(deploymentsKind))
	}
}

var deploymentsKind = kind("apps", "v1", "Deployment")

// both makes passes over the namespace and another, and returns the reasons of the other.
func (w *world) both(other string, n int) []string {
	w.t.Helper()
	var last []fairlead.Block
	for range n {
		if _, err := w.pass(); err != nil {
			w.t.Error(err)
		}
		d, err := w.runner.Reconcile(w.t.Context(), other)
		if err != nil {
			w.t.Logf("%s: %v", other, err)
		}
		last = append(last, d.Blocked...)
		w.play()
		w.clock.Advance(time.Second)
	}
	return reasons(last)
}

// settle makes another namespace with a catalog, a group and a subscription.
func (w *world) settle(other string, v shelf.Version) {
	w.t.Helper()
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}})
	w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "own"}, Data: map[string]string{"catalog.json": shelf.Catalog(v)}})
	source := object(catalogKind, other, "own")
	source.Object["spec"] = map[string]any{"sourceType": "configmap", "configMap": "own"}
	w.create(source)
	group := object(groupKind, other, "own")
	group.Object["spec"] = map[string]any{"targetNamespaces": []any{other}}
	w.create(group)
	s := object(subscriptionKind, other, "own")
	s.Object["spec"] = map[string]any{"name": v.Package, "channel": "stable", "source": "own", "sourceNamespace": other}
	w.create(s)
}

// TestTakenAPIService: an API service belongs to the namespace that it was written for,
// or to whoever else made it, and no other operator takes it over.
func TestTakenAPIService(t *testing.T) {
	w := newWorld(t, nil)
	v := meters()
	v.Calls = []string{"api"}
	w.stock("Automatic", v)
	w.run(80)
	name := "v1." + v.APIGroup()
	before := w.get(apiServiceKind, "", name)
	evil := shelf.Version{Package: "pipes", Number: "6.6.6", Kind: "Valve", Served: []string{"v1"}, Fields: []string{"x"}, Calls: []string{"api"}}
	w.settle("elsewhere", evil)
	if why := w.both("elsewhere", 30); !slices.Contains(why, install.ReasonOwnerConflict) {
		t.Errorf("it is not told: %v", why)
	}
	if after := w.get(apiServiceKind, "", name); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("it was written: %v", after.Object["spec"])
	}

	w = newWorld(t, nil)
	foreign := object(apiServiceKind, "", name)
	foreign.Object["spec"] = map[string]any{"service": map[string]any{"namespace": "kube-system", "name": "metrics"}}
	w.create(foreign)
	w.play()
	before = w.get(apiServiceKind, "", name)
	w.stock("Automatic", v)
	d, _ := w.run(80)
	if !slices.Contains(reasons(d.Blocked), install.ReasonOwnerConflict) {
		t.Errorf("it is not told: %v", d.Blocked)
	}
	if after := w.get(apiServiceKind, "", name); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("it was written: %v", after.Object["spec"])
	}
}
