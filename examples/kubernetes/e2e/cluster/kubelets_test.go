//go:build unix

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

// slowly is the label of pods that take all of their grace period to end.
const slowly = "slowly"

// TestKubelets runs typical workloads on a cluster with two nodes.
func TestKubelets(t *testing.T) {
	c := cluster.ForTest(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	admin := clientFor(t, c.Config())
	k, err := c.PlayKubelets(ctx, &cluster.KubeletOptions{Ending: func(pod *corev1.Pod) time.Duration {
		if _, ok := pod.Labels[slowly]; ok {
			return time.Hour
		}
		return 0
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.PlayKubelets(ctx, nil); err == nil {
		t.Error("a cluster was given two sets of kubelets")
	}
	for name, disk := range map[string]string{"a": "slow", "b": "fast"} {
		if err := k.AddNode(ctx, name, map[string]string{"disk": disk}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(ctx, t, "the default service account", func() error {
		_, err := admin.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})

	t.Run("workloads", func(t *testing.T) { testWorkloads(ctx, t, admin) })
	t.Run("taints", func(t *testing.T) { testTaints(ctx, t, admin) })
	t.Run("grace", func(t *testing.T) { testGrace(ctx, t, admin) })
	t.Run("silence", func(t *testing.T) { testSilence(ctx, t, k, admin) })
	t.Run("budget", func(t *testing.T) { testBudget(ctx, t, admin) })

	deletions := requests(t, c, cluster.Filter{User: cluster.KubeletUser, Verb: "delete"})
	if len(deletions) < 3 {
		t.Errorf("%d deletions by kubelets, want at least 3", len(deletions))
	}
	removed := map[types.UID]bool{}
	for _, r := range deletions {
		if r.PreconditionUID() == "" || r.Resource != "pods" {
			t.Errorf("a deletion without UID, or not of a pod: %+v", r)
		}
		if r.Code == 200 && removed[r.PreconditionUID()] {
			t.Errorf("pod %s was removed twice", r.Name)
		}
		removed[r.PreconditionUID()] = r.Code == 200
	}
}

// testWorkloads waits until a Deployment, a DaemonSet and a Job report success.
func testWorkloads(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	for _, kind := range []string{"web", "agent"} {
		meta := metav1.ObjectMeta{Name: kind}
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": kind}}
		template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: podSpec("")}
		var err error
		if kind == "web" {
			three := int32(3)
			_, err = admin.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{
				ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &three, Selector: selector, Template: template},
			}, metav1.CreateOptions{})
		} else {
			_, err = admin.AppsV1().DaemonSets("default").Create(ctx, &appsv1.DaemonSet{
				ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template},
			}, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	once := podSpec("")
	once.RestartPolicy = corev1.RestartPolicyNever
	if _, err := admin.BatchV1().Jobs("default").Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "once"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: once}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "the Deployment", func() error {
		d, err := admin.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		return want(err, "available replicas", d.Status.AvailableReplicas, 3)
	})
	eventually(ctx, t, "the DaemonSet", func() error {
		d, err := admin.AppsV1().DaemonSets("default").Get(ctx, "agent", metav1.GetOptions{})
		return want(err, "ready pods", d.Status.NumberReady, 2)
	})
	eventually(ctx, t, "the Job", func() error {
		j, err := admin.BatchV1().Jobs("default").Get(ctx, "once", metav1.GetOptions{})
		return want(err, "succeeded pods", j.Status.Succeeded, 1)
	})
	pods, err := admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=agent"})
	if err != nil || len(pods.Items) != 2 || pods.Items[0].Spec.NodeName == pods.Items[1].Spec.NodeName {
		t.Errorf("the pods of the DaemonSet: %v, %v", pods.Items, err)
	}
}

// testTaints checks that nothing but an engine evicts pods from a tainted
// node, and that pods that do not tolerate the taint are not scheduled there.
func testTaints(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	createPod(ctx, t, admin, "before", "a", nil)
	phase(ctx, t, admin, "before", corev1.PodRunning)
	setTaints(ctx, t, admin, "a", corev1.Taint{Key: "broken", Effect: corev1.TaintEffectNoExecute})

	spec := podSpec("")
	spec.NodeSelector = map[string]string{"disk": "slow"}
	if _, err := admin.CoreV1().Pods("default").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "after"}, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	phase(ctx, t, admin, "before", corev1.PodRunning)
	pod, err := admin.CoreV1().Pods("default").Get(ctx, "after", metav1.GetOptions{})
	if err != nil || pod.Spec.NodeName != "" {
		t.Errorf("a pod that does not tolerate the taint is on %q, %v", pod.Spec.NodeName, err)
	}
	setTaints(ctx, t, admin, "a")
	phase(ctx, t, admin, "after", corev1.PodRunning)
}

// testGrace deletes pods that end at once and a slow one.
func testGrace(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	for name, label := range map[string]map[string]string{"quick": nil, "slow": {slowly: ""}} {
		createPod(ctx, t, admin, name, "b", label)
		phase(ctx, t, admin, name, corev1.PodRunning)
		grace := int64(4)
		begin := time.Now()
		if err := admin.CoreV1().Pods("default").Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
			t.Fatal(err)
		}
		gone(ctx, t, admin, name)
		// The API's times are in whole seconds, so it may be one second less.
		if took := time.Since(begin); name == "slow" && took < 3*time.Second {
			t.Errorf("the slow pod took %s of its 4s", took)
		}
	}
}

// testSilence deletes a pod on a silent node.
func testSilence(ctx context.Context, t *testing.T, k *cluster.Kubelets, admin kubernetes.Interface) {
	createPod(ctx, t, admin, "silent", "b", nil)
	phase(ctx, t, admin, "silent", corev1.PodRunning)
	if err := k.Report(ctx, "b", corev1.ConditionUnknown); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // until the kubelets have seen it
	if err := admin.CoreV1().Pods("default").Delete(ctx, "silent", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if _, err := admin.CoreV1().Pods("default").Get(ctx, "silent", metav1.GetOptions{}); err != nil {
		t.Errorf("a pod of a node that is silent: %v", err)
	}
	if err := k.Report(ctx, "b", corev1.ConditionTrue); err != nil {
		t.Fatal(err)
	}
	gone(ctx, t, admin, "silent")
}

// testBudget evicts pods of the Deployment under a disruption budget.
func testBudget(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	three := intstr.FromInt32(3)
	if _, err := admin.PolicyV1().PodDisruptionBudgets("default").Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &three, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "the budget", func() error {
		b, err := admin.PolicyV1().PodDisruptionBudgets("default").Get(ctx, "web", metav1.GetOptions{})
		return want(err, "healthy pods", b.Status.CurrentHealthy, 3)
	})
	pods, err := admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil || len(pods.Items) != 3 {
		t.Fatalf("%d pods, %v", len(pods.Items), err)
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pods.Items[0].Name, Namespace: "default"}}
	if err := admin.CoreV1().Pods("default").EvictV1(ctx, eviction); !apierrors.IsTooManyRequests(err) {
		t.Errorf("evicting the third of three that are to be available: %v", err)
	}
	scale, err := admin.AppsV1().Deployments("default").GetScale(ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scale.Spec.Replicas = 4
	if _, err := admin.AppsV1().Deployments("default").UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "the eviction", func() error { return admin.CoreV1().Pods("default").EvictV1(ctx, eviction) })
	gone(ctx, t, admin, eviction.Name)
	eventually(ctx, t, "the replacement", func() error {
		d, err := admin.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		return want(err, "available replicas", d.Status.AvailableReplicas, 4)
	})
}

// podSpec returns the spec of a pod with one container, on a given node or on
// any.
func podSpec(node string) corev1.PodSpec {
	return corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}}
}

func createPod(ctx context.Context, t *testing.T, admin kubernetes.Interface, name, node string, labels map[string]string) {
	t.Helper()
	_, err := admin.CoreV1().Pods("default").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: podSpec(node),
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// phase waits until a pod is in a phase.
func phase(ctx context.Context, t *testing.T, admin kubernetes.Interface, name string, phase corev1.PodPhase) {
	t.Helper()
	eventually(ctx, t, "pod "+name, func() error {
		pod, err := admin.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return want(err, "phase", pod.Status.Phase, phase)
	})
}

// gone waits until a pod no longer exists.
func gone(ctx context.Context, t *testing.T, admin kubernetes.Interface, name string) {
	t.Helper()
	eventually(ctx, t, "the end of pod "+name, func() error {
		_, err := admin.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
}

// setTaints sets the taints of a node.
func setTaints(ctx context.Context, t *testing.T, admin kubernetes.Interface, name string, taints ...corev1.Taint) {
	t.Helper()
	node, err := admin.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node.Spec.Taints = taints
	if _, err := admin.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// want returns an error unless a value is as expected.
func want[T comparable](err error, what string, got, want T) error {
	if err == nil && got != want {
		err = fmt.Errorf("%s: %v, want %v", what, got, want)
	}
	return err
}
