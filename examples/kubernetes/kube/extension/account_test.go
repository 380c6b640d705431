package extension_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	engine "github.com/fairlead/fairlead/solver/olm/extension"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// named is a world whose extension names service account installer, which may do everything in the
// cluster, or only in its namespace. as has what is written in its name.
func named(t *testing.T, everywhere bool) (w *world, as *[]string) {
	t.Helper()
	w, as = newWorld(t), new([]string)
	w.as = func(namespace, account string) (client.Client, error) {
		if namespace != ns || account != "installer" {
			return nil, fmt.Errorf("service account %s/%s was not named", namespace, account)
		}
		return interceptor.NewClient(w.client, interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				t.Error("it reads in the name of the account")
				return errors.New("not allowed")
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				if *as = append(*as, "delete "+o.GetObjectKind().GroupVersionKind().Kind+" "+o.GetName()); o.GetNamespace() != "" && o.GetNamespace() != ns {
					return forbidden(o)
				}
				return c.Delete(ctx, o, opts...)
			},
			Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				u := o.(interface {
					GetKind() string
					GetName() string
				})
				*as = append(*as, "apply "+u.GetKind()+" "+u.GetName())
				return c.Apply(ctx, o, opts...)
			},
		}), nil
	}
	w.restart()
	create := func(o client.Object) { w.must(w.client.Create(t.Context(), o)) }
	create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "installer"}})
	rules := []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "installer"}}
	if everywhere {
		create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "installer"}, Rules: rules})
		create(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "installer"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "installer"}})
	} else {
		create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "installer"}, Rules: rules})
		create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "installer"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "installer"}})
	}
	w.publish(pipes()...)
	w.ask("1.0.0")
	u := w.get(extensionKind, "", "pipes")
	w.must(unstructured.SetNestedField(u.Object, "installer", "spec", "serviceAccount", "name"))
	w.must(w.client.Update(t.Context(), u))
	return w, as
}

// forbidden is a delete that the server refuses.
func forbidden(o client.Object) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: strings.ToLower(o.GetObjectKind().GroupVersionKind().Kind)}, o.GetName(), errors.New("installer may not delete it"))
}

// TestAccount installs an extension in the name of an account: all objects but the CRD.
func TestAccount(t *testing.T) {
	w, as := named(t, true)
	w.run(nil)
	w.wantStatus("pipes.v1.0.0 Installed True Succeeded Progressing True Succeeded")
	for _, want := range []string{"apply ServiceAccount pipes", "apply Service pipes-metrics", "apply Deployment pipes"} {
		if !slices.Contains(*as, want) {
			t.Errorf("not in the name of the account: %s; %v", want, *as)
		}
	}
	own := []string{"CustomResourceDefinition ", "ClusterObjectSet ", "ClusterExtension "}
	for _, write := range w.writes {
		_, what, _ := strings.Cut(strings.ReplaceAll(write, " status", ""), " ")
		if !slices.ContainsFunc(own, func(kind string) bool { return strings.HasPrefix(what, kind) }) {
			t.Errorf("with the rights of the controller: %s", write)
		}
	}
}

// TestAccountDeletes: what is labelled as an extension's, by whoever may label it, is deleted only if
// the extension's account may delete it, and the extension tells whose right is missing. All objects
// but the CRDs are deleted in the name of the account, also when the extension is.
func TestAccountDeletes(t *testing.T) {
	w, as := named(t, true)
	w.run(nil)
	labels := map[string]string{engine.OwnerKindLabel: extensionKind.Kind, engine.OwnerNameLabel: "pipes"}
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "payroll", Name: "ledger", UID: "uid-ledger", Labels: labels}}
	w.must(w.client.Create(t.Context(), theirs))
	*as, w.writes = nil, nil
	w.fail = func(string) (error, bool) { return nil, false }
	for range 10 {
		_, _ = w.runner.Reconcile(t.Context(), "pipes") // the refusal
		w.clock.Advance(time.Minute)
	}
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs); err != nil {
		t.Errorf("deleted with the rights of the controller: %v; %v", err, w.writes)
	}
	d, _ := w.runner.Reconcile(t.Context(), "pipes")
	if text := fmt.Sprintf("%+v", d.Blocked) + w.status(); !strings.Contains(text, "ledger") || !strings.Contains(text, "plumbing/installer") {
		t.Errorf("not told: %v", text)
	}
	w.must(w.client.Delete(t.Context(), theirs))
	w.fail, *as, w.writes = nil, nil, nil
	w.must(w.client.Delete(t.Context(), w.get(extensionKind, "", "pipes")))
	w.run(nil)
	if all := w.all(extensionKind); len(all) > 0 || !slices.Contains(*as, "delete Deployment pipes") {
		t.Errorf("%d extensions are left; in the name of the account: %v", len(all), *as)
	}
	for _, write := range w.writes {
		what, is := strings.CutPrefix(write, "delete ")
		if is && !strings.HasPrefix(what, "CustomResourceDefinition ") && !strings.HasPrefix(what, "ClusterObjectSet ") {
			t.Errorf("with the rights of the controller: %s", write)
		}
	}
}

// TestSmallAccount: what an account may not write is not written, by anybody, and the extension says so.
func TestSmallAccount(t *testing.T) {
	w, as := named(t, false)
	d := w.run(nil)
	if len(*as) > 0 || len(w.all(kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"))) > 0 || len(w.all(deploymentKind)) > 0 {
		t.Errorf("written: %v", *as)
	}
	if len(d.Blocked) == 0 || !strings.Contains(fmt.Sprint(d.Blocked), "installer") {
		t.Errorf("not told: %v", d.Blocked)
	}
}

// TestAccountRenamed: an action decided for one account is not carried out once the extension names
// another one.
func TestAccountRenamed(t *testing.T) {
	w, as := named(t, true)
	w.run(nil)
	u := w.get(extensionKind, "", "pipes")
	w.must(unstructured.SetNestedField(u.Object, "other", "spec", "serviceAccount", "name"))
	w.must(w.client.Update(t.Context(), u))
	*as = nil
	err := w.backend.Apply(t.Context(), "pipes", engine.ApplyObject{
		Revision: "pipes-1", As: "installer", Manifest: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"late","namespace":"plumbing"}}`), Digest: "d",
		Ref: engine.Ref{Kind: "ConfigMap", Namespace: ns, Name: "late"},
	})
	if err == nil || len(*as) > 0 {
		t.Errorf("%v: %v", err, *as)
	}
}
