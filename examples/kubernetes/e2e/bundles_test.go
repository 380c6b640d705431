package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bundleSample returns the bundles for a short run: a plain one, one with
// webhooks, one that needs other packages and has webhooks, one with kinds that
// the cluster does not have, and one whose CRDs servers no longer accept.
func bundleSample() []string {
	return []string{
		"cat-facts-operator/1.1.1", "gitlab-operator-kubernetes/3.2.4", "cluster-aas-operator/0.1.4",
		"community-windows-machine-config-operator/7.0.0", "hyperfoil-bundle/0.5.2",
	}
}

// The operators of the data are installed as far as the cluster meets their
// requirements, report what they wait for and continue when they get it, have their
// webhooks called, are updated to the next version, and are removed with all their
// objects except CRDs. A short run uses a few of them.
func TestBundles(t *testing.T) {
	root := t.TempDir()
	all := realBundles(t, root)
	w := newWorld(t, nil)
	pods := w.servePods(allow)
	w.installKinds()
	if err := w.kubelets.AddNode(t.Context(), "control", map[string]string{
		"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/master": "", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
	}); err != nil {
		t.Fatal(err)
	}
	w.grantKinds()
	manager := operator.Start(t, w.Cluster, "-controllers=operators", "-leader-elect=false", "-operators-images="+root, "-operators-plan-timeout=40s")
	manager.Ready()

	var table strings.Builder
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "bundle\tinstalled\twaited for\twebhooks\tupdated\tremoved")
	n := 0
	for _, versions := range all {
		for _, b := range versions {
			if !long.Enabled() && !slices.Contains(bundleSample(), b.at) {
				continue
			}
			n++
			t.Run(b.at, func(t *testing.T) {
				e := &episode{world: w.with(t), root: root, namespace: fmt.Sprintf("bundle-%d", n), bundle: b, next: b.next(versions), pods: pods}
				e.play()
				fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\n", b.at, e.installed, strings.Join(e.waited, ", "), e.called, e.updated, e.removed)
			})
		}
	}
	columns.Flush()
	t.Logf("%d bundles:\n%s", n, table.String())
	if used, refused := w.rights(); len(refused) > 0 {
		for right, uri := range refused {
			if !used[right] {
				t.Errorf("the operator has no right to %s: %s", right, uri)
			}
		}
	}
}

// grantKinds allows the operator to create objects of kinds that are in bundles of
// the data and not in its manifest.
func (w *world) grantKinds() {
	w.Helper()
	verbs := []string{"get", "list", "watch", "create", "patch", "delete"}
	w.create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "kinds-of-bundles"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"scheduling.k8s.io"}, Resources: []string{"priorityclasses"}, Verbs: verbs},
		{APIGroups: []string{"policy"}, Resources: []string{"poddisruptionbudgets"}, Verbs: verbs},
		{APIGroups: []string{"monitoring.coreos.com"}, Resources: []string{"servicemonitors", "prometheusrules"}, Verbs: verbs},
	}})
	w.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "kinds-of-bundles"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "kinds-of-bundles"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operator.Namespace, Name: operator.Account}},
	})
}

// An episode is the test of one bundle, in its own namespace.
type episode struct {
	*world
	root, namespace string
	bundle, next    *realBundle
	pods            *podServers

	// The results, for the table.
	installed, called, updated, removed string
	waited                              []string
}

func (e *episode) play() {
	e.Helper()
	both := []*realBundle{e.bundle}
	if e.next != nil {
		both = append(both, e.next)
	}
	others, kinds := e.bundle.needs()
	for _, b := range both[1:] {
		o, k := b.needs()
		others, kinds = union(others, o), union(kinds, k)
	}
	e.installed, e.called, e.updated = "no", "-", "-"
	ownOthers, ownKinds := e.bundle.needs()
	e.begin(stock(e.T, e.root, "catalogs/"+e.namespace+"-alone", both[:1], nil))
	before := e.objects()
	subscription := e.object("v1alpha1", "Subscription", e.bundle.Package(), map[string]any{
		"name": e.bundle.Package(), "channel": "all", "source": "data", "sourceNamespace": e.namespace, "installPlanApproval": "Automatic",
	})
	e.create(subscription)
	defer e.abandon()

	if lacks := ownOthers; len(lacks) > 0 {
		e.waits(lacks)
	}
	if len(others) > 0 { // also of the next version
		e.catalog(stock(e.T, e.root, "catalogs/"+e.namespace+"-helped", both[:1], others))
	}
	if lacks := ownKinds; len(lacks) > 0 {
		e.waits(lacks)
		e.failed()
	}
	e.define(kinds)
	if len(ownKinds) > 0 {
		e.forgive()
	}
	if e.bundle.outdated() {
		e.tells("v1beta1")
		e.waited = append(e.waited, "CRDs of v1beta1")
		e.failed()
	} else {
		e.succeeded(e.bundle)
		e.installed = "yes"
		e.called = e.call()
		if e.next != nil {
			e.catalog(stock(e.T, e.root, "catalogs/"+e.namespace+"-next", both, others))
			e.succeeded(e.next)
			e.updated = e.next.Version()
		}
	}
	e.remove(before, others, kinds)
	e.removed = "yes"
}

// union returns the outsiders of two lists.
func union(a, b []outsider) []outsider {
	return append(slices.Clone(a), slices.DeleteFunc(slices.Clone(b), func(o outsider) bool { return slices.Contains(a, o) })...)
}

// outdated reports whether a CRD of the bundle has a version that servers no
// longer accept.
func (b *realBundle) outdated() bool {
	return slices.ContainsFunc(b.CRDs, func(c *bundle.CRD) bool { return c.Manifest().APIVersion == "apiextensions.k8s.io/v1beta1" })
}

// object returns an object in the episode's namespace.
func (e *episode) object(version, kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := olmObject(version, kind, name, spec)
	o.SetNamespace(e.namespace)
	return o
}

// begin creates the namespace, with a catalog and a group that suits both
// bundles.
func (e *episode) begin(image string) {
	e.Helper()
	e.world.namespace(e.namespace)
	e.create(e.object("v1alpha1", "CatalogSource", "data", map[string]any{"sourceType": "grpc", "image": image}))
	group := map[string]any{}
	if e.bundle.supports("OwnNamespace") && (e.next == nil || e.next.supports("OwnNamespace")) {
		group["targetNamespaces"] = []any{e.namespace}
	}
	e.create(e.object("v1", "OperatorGroup", "group", group))
}

// catalog sets the image of the catalog.
func (e *episode) catalog(image string) {
	e.Helper()
	e.patch("v1alpha1", "CatalogSource", "data", `{"spec":{"image":"`+image+`"}}`)
}

func (e *episode) patch(version, kind, name, patch string) {
	e.Helper()
	if err := e.admin.Patch(e.Context(), e.object(version, kind, name, nil), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		e.Fatal(err)
	}
}

// list returns the objects of a kind in the namespace, except copies from
// others.
func (e *episode) list(version, kind string) []unstructured.Unstructured {
	e.Helper()
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: version, Kind: kind + "List"})
	if err := e.admin.List(e.Context(), &list, client.InNamespace(e.namespace)); err != nil {
		e.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(o unstructured.Unstructured) bool {
		reason, _, _ := unstructured.NestedString(o.Object, "status", "reason")
		return reason == olm.ReasonCopied
	})
}

// succeeded waits until the CSV of the bundle has succeeded, no earlier one is
// left, and its plan is complete.
func (e *episode) succeeded(b *realBundle) {
	e.Helper()
	e.within(5*time.Minute, b.Name()+" has succeeded", func() string { // with many kinds it is first copied to many namespaces
		phases := map[string]string{}
		for _, o := range e.list("v1alpha1", "ClusterServiceVersion") {
			phases[o.GetName()], _, _ = unstructured.NestedString(o.Object, "status", "phase")
		}
		for name, phase := range phases {
			if phase != "Succeeded" || name == e.bundle.Name() && name != b.Name() {
				return e.told()
			}
		}
		if phases[b.Name()] == "" {
			return e.told()
		}
		for _, o := range e.list("v1alpha1", "InstallPlan") {
			if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase != "Complete" {
				return e.told()
			}
		}
		return ""
	})
}

// tells waits until the namespace reports something.
func (e *episode) tells(what string) {
	e.Helper()
	e.eventually("there is a report on "+what, func() string {
		if text := e.told(); !strings.Contains(text, what) {
			return text
		}
		return ""
	})
}

// waits checks that the bundle is not installed and reports what it lacks.
func (e *episode) waits(lacks []outsider) {
	e.Helper()
	words := map[string]bool{}
	for _, o := range lacks {
		for _, word := range []string{o.kind, o.pkg} {
			if word != "" {
				words[word] = true
			}
		}
	}
	var found string
	e.eventually("missing requirements are reported", func() string {
		text := e.told()
		for _, word := range slices.Sorted(maps.Keys(words)) {
			if strings.Contains(text, word) {
				found = word
				return ""
			}
		}
		return text
	})
	e.waited = append(e.waited, found)
	for _, o := range e.list("v1alpha1", "ClusterServiceVersion") {
		if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase == "Succeeded" && o.GetName() == e.bundle.Name() {
			e.Errorf("%s has succeeded without %s", o.GetName(), found)
		}
	}
}

// failed waits until the newest plan has failed.
func (e *episode) failed() {
	e.Helper()
	e.eventually("the plan has failed", func() string {
		for _, o := range e.list("v1alpha1", "InstallPlan") {
			if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase == "Failed" {
				return ""
			}
		}
		return e.told()
	})
}

// forgive deletes failed plans, as one does when the cause is gone.
func (e *episode) forgive() {
	e.Helper()
	for _, o := range e.list("v1alpha1", "InstallPlan") {
		if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase == "Failed" {
			if err := e.admin.Delete(e.Context(), &o); err != nil {
				e.Fatal(err)
			}
		}
	}
}

// define defines kinds that do not belong to an operator.
func (e *episode) define(kinds []outsider) {
	e.Helper()
	for _, o := range kinds {
		e.create(&unstructured.Unstructured{Object: o.crd()})
	}
}

// uninstall requests the removal of all operators of the namespace.
func (e *episode) uninstall() {
	for _, o := range e.list("v1alpha1", "Subscription") {
		e.patch("v1alpha1", "Subscription", o.GetName(), `{"metadata":{"annotations":{"fairlead.io/removal":"uninstall"}}}`)
	}
}

// abandon prevents the objects of a failed episode from affecting later ones.
func (e *episode) abandon() {
	if e.removed == "" {
		e.uninstall()
	}
}

// remove requests the removal of all operators of the namespace, waits until
// nothing of them is left but CRDs and plans, and deletes these.
func (e *episode) remove(before map[string]bool, others, kinds []outsider) {
	e.Helper()
	e.uninstall()
	e.eventually("the operators are gone", func() string {
		if n := len(e.list("v1alpha1", "Subscription")) + len(e.list("v1alpha1", "ClusterServiceVersion")); n > 0 {
			return fmt.Sprintf("%d are there: %s", n, e.told())
		}
		return ""
	})
	definitions := map[string]bool{}
	for _, b := range []*realBundle{e.bundle, e.next} {
		if b != nil {
			for _, c := range b.CRDs {
				definitions[c.Metadata.Name] = true
			}
		}
	}
	for _, o := range append(others, kinds...) {
		if o.kind != "" {
			definitions[o.plural+"."+o.group] = true
		}
	}
	groups := map[string]bool{}
	for name := range definitions {
		_, group, _ := strings.Cut(name, ".")
		groups[group] = true
	}
	const prefix = "apiextensions.k8s.io/customresourcedefinitions "
	e.eventually("no object is left", func() string {
		var left []string
		for name := range e.objects() {
			definition, is := strings.CutPrefix(name, prefix)
			_, served, _ := strings.Cut(strings.TrimPrefix(name, "apiregistration.k8s.io/apiservices "), ".")
			if !before[name] && (!is || !definitions[definition]) && !groups[served] { // created by the server for CRDs
				left = append(left, name)
			}
		}
		slices.Sort(left)
		return strings.Join(left, ", ")
	})
	for name := range definitions {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		o.SetName(name)
		if err := e.admin.Delete(e.Context(), o); client.IgnoreNotFound(err) != nil {
			e.Error(err)
		}
	}
	if err := e.admin.Delete(e.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}); err != nil {
		e.Fatal(err)
	}
	e.eventually("the namespace is gone", func() string {
		err := e.admin.Get(e.Context(), client.ObjectKey{Name: e.namespace}, &corev1.Namespace{})
		return expect(fmt.Sprint(apierrors.IsNotFound(err)), "true")
	})
	e.eventually("the definitions are gone", func() string {
		for name := range e.objects() {
			if definition, is := strings.CutPrefix(name, prefix); is && definitions[definition] {
				return definition
			}
		}
		return ""
	})
}

// with returns the world for a part of the test.
func (w *world) with(t *testing.T) *world {
	return &world{t, w.Cluster, w.admin, w.kubelets}
}
