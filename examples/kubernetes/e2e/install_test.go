package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
)

// kubectl returns a function that runs kubectl as the admin, in the directory
// of the module.
func (w *world) kubectl() func(args ...string) {
	w.Helper()
	program := cluster.ProgramForTest(w.T, "kubectl")
	kubeconfig := filepath.Join(w.TempDir(), "kubeconfig")
	if err := cluster.WriteKubeconfig(w.Config(), kubeconfig); err != nil {
		w.Fatal(err)
	}
	return func(args ...string) {
		w.Helper()
		cmd := exec.CommandContext(w.Context(), program, args...)
		cmd.Dir, cmd.Env = "..", append(os.Environ(), "KUBECONFIG="+kubeconfig)
		if out, err := cmd.CombinedOutput(); err != nil {
			w.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// deployed returns the operator's Deployment on the server.
func (w *world) deployed() *appsv1.Deployment {
	w.Helper()
	d := &appsv1.Deployment{}
	if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: operator.Namespace, Name: "operator"}, d); err != nil {
		w.Fatal(err)
	}
	return d
}

// operatorPods waits until the namespace has the wanted number of pods of an
// image: the server has admitted them under the security standard of the
// namespace.
func (w *world) operatorPods(image string, want int) {
	w.Helper()
	w.eventually("pods of "+image, func() string {
		var all corev1.PodList
		if err := w.admin.List(w.Context(), &all, client.InNamespace(operator.Namespace)); err != nil {
			return err.Error()
		}
		got := 0
		for _, p := range all.Items {
			if p.Spec.Containers[0].Image == image && p.DeletionTimestamp == nil {
				got++
			}
		}
		if got != want {
			return strings.Repeat("x", got) + " and not as many as wanted"
		}
		return ""
	})
}

// The operator is installed by the two commands in the README, works with the
// objects that they created and with the restrictions of its image, is upgraded in
// the middle of a drain, and uninstalled.
func TestInstall(t *testing.T) {
	w := newWorld(t, nil)
	kubectl := w.kubectl()
	w.namespace("shop")
	for _, name := range []string{"n1", "n2"} { // the operator's own pods need one that is not drained
		if err := w.kubelets.AddNode(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.pod("shop", "web", "n1", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web"} })
	all := intstr.FromString("100%")
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	w.create(budget)

	kubectl("apply", "-f", "config/crd/drainrequests.yaml")
	kubectl("apply", "-k", "install/example")
	w.operatorPods("registry.example/fairlead-operator:v0.1.0", 2)
	flags := w.deployed().Spec.Template.Spec.Containers[0].Args
	manager := operator.StartConfined(t, w.Cluster, flags...)
	w.eventually("the request is taken", func() string {
		return problem(w.admin.Create(t.Context(), drainRequest("disk", "n1", nil)))
	})
	w.eventually("the drain waits for the budget", func() string {
		if got := w.drainStatus("disk"); !strings.HasPrefix(got, "Draining") {
			return got
		}
		return expect(w.cordoned("n1"), "true")
	})

	// The next version, and another controller.
	next := t.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "install", "example", "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	away, err := filepath.Rel(next, here)
	if err != nil {
		t.Fatal(err)
	}
	edit := strings.NewReplacer("newTag: v0.1.0", "newTag: v0.2.0", "- ../../config", "- "+away+"/config", "- ../drain", "- "+away+"/install/drain", "- ../eviction", "- "+away+"/install/rollout")
	if err := os.WriteFile(filepath.Join(next, "kustomization.yaml"), []byte(edit.Replace(string(text))), 0o644); err != nil {
		t.Fatal(err)
	}
	kubectl("apply", "-k", next)
	w.operatorPods("registry.example/fairlead-operator:v0.2.0", 2)
	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}
	flags = w.deployed().Spec.Template.Spec.Containers[0].Args
	slices.Sort(flags)
	if got := strings.Join(flags, " "); got != "-controllers=drain -controllers=rollout -namespace=fairlead" {
		t.Errorf("the next version runs with %q", got)
	}
	manager = operator.StartConfined(t, w.Cluster, "-controllers=drain") // pools exist only in other clusters
	if err := w.admin.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	w.eventually("the next version ends the drain", func() string { return expect(w.drainStatus("disk"), "Drained") })
	if err := manager.Stop(); err != nil {
		t.Error(err)
	}
	if _, refused := w.rights(); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}

	kubectl("delete", "-k", next, "--wait=false")
	kubectl("delete", "-f", "install/eviction/binding.yaml") // removed in the next version
	w.eventually("the namespace is gone", func() string {
		err := w.admin.Get(t.Context(), client.ObjectKey{Name: operator.Namespace}, &corev1.Namespace{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return "it is there: " + problem(err)
	})
	for _, list := range []client.ObjectList{&rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}, &networkingv1.NetworkPolicyList{}} {
		if err := w.admin.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for _, name := range namesOf(list) {
			if strings.HasPrefix(name, "fairlead") || name == "operator" {
				t.Errorf("%T: %s is left", list, name)
			}
		}
	}
	if got := w.drainStatus("disk"); got != "Drained" {
		t.Errorf("the request after the operator is gone: %s", got)
	}
}

func namesOf(list client.ObjectList) []string {
	var names []string
	switch l := list.(type) {
	case *rbacv1.ClusterRoleList:
		for i := range l.Items {
			names = append(names, l.Items[i].Name)
		}
	case *rbacv1.ClusterRoleBindingList:
		for i := range l.Items {
			names = append(names, l.Items[i].Name)
		}
	case *networkingv1.NetworkPolicyList:
		for i := range l.Items {
			names = append(names, l.Items[i].Name)
		}
	}
	return names
}
