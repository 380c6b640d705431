package e2e_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/quorum"
	"github.com/fairlead/fairlead/lifecycle"
	engine "github.com/fairlead/fairlead/lifecycle/quorum"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// etcds contains the members of one etcd, each a process with its own address.
type etcds struct {
	*testing.T
	program, dir string
	processes    map[int]*exec.Cmd
}

func newEtcds(t *testing.T) *etcds {
	t.Helper()
	servers, err := cluster.Servers()
	if err != nil {
		t.Skip(err)
	}
	return &etcds{T: t, program: filepath.Join(servers, "etcd"), dir: t.TempDir(), processes: map[int]*exec.Cmd{}}
}

func etcdAddress(i int) string { return fmt.Sprint("127.0.0.", 20+i) }

func etcdURL(i int) string { return "http://" + etcdAddress(i) + ":2379" }

// start starts one of the given members.
func (e *etcds) start(i int, state string, members ...int) {
	e.Helper()
	var all []string
	for _, j := range members {
		all = append(all, fmt.Sprintf("n%d=https://%s:2380", j, etcdAddress(j)))
	}
	peer := "https://" + etcdAddress(i) + ":2380"
	log, err := os.Create(filepath.Join(e.dir, fmt.Sprint(i, ".log")))
	if err != nil {
		e.Fatal(err)
	}
	cmd := exec.Command(e.program, fmt.Sprint("--name=n", i), "--data-dir="+filepath.Join(e.dir, fmt.Sprint(i)), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls="+etcdURL(i), "--advertise-client-urls="+etcdURL(i), "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--peer-auto-tls", "--initial-cluster="+strings.Join(all, ","), "--initial-cluster-state="+state)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{"HOME=" + e.dir}, log, log
	if err := cmd.Start(); err != nil {
		e.Fatal(err)
	}
	e.processes[i] = cmd
	e.Cleanup(func() { e.kill(i) })
}

func (e *etcds) kill(i int) {
	if cmd := e.processes[i]; cmd != nil {
		delete(e.processes, i)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// put writes to a member, and returns any problem.
func (e *etcds) put(i int, key, value string) string {
	body := fmt.Sprintf(`{"key": %q, "value": %q}`, base64.StdEncoding.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte(value)))
	client := http.Client{Timeout: 2 * time.Second} // a proposal to a leader that has died is lost
	answer, err := client.Post(etcdURL(i)+"/v3/kv/put", "application/json", strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return answer.Status
	}
	return ""
}

// get reads from a member, without asking the others.
func (e *etcds) get(i int, key string) string {
	body := fmt.Sprintf(`{"key": %q, "serializable": true}`, base64.StdEncoding.EncodeToString([]byte(key)))
	answer, err := http.Post(etcdURL(i)+"/v3/kv/range", "application/json", strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	var text bytes.Buffer
	_, _ = text.ReadFrom(answer.Body)
	return text.String()
}

// One of three real etcd members dies. Its machine is deleted, and another one
// takes its place: the dead member is removed, the machine loses its hook, the new
// member is added, catches up and votes, with the data. Writes continue all the
// time, and the operator has only the permissions of its role.
func TestEtcdMemberDies(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/machine.yaml", "rbac-quorum.yaml")
	w.namespace("fleet")
	w.namespace("etcd")
	all := newEtcds(t)
	for i := 1; i <= 3; i++ {
		all.start(i, "new", 1, 2, 3)
		w.member(i, true)
	}
	w.eventually("etcd writes", func() string { return all.put(1, "before", "kept") })
	backend := &quorum.Backend{
		Client: w.admin, Etcd: &quorum.Etcd{Endpoints: []string{etcdURL(1), etcdURL(2), etcdURL(3)}}, Desired: 3, Namespace: "fleet",
		Machines: labels.SelectorFromSet(labels.Set{"role": "master"}), Pods: quorum.Pods{Namespace: "etcd", Selector: labels.SelectorFromSet(labels.Set{"app": "etcd"})},
	}
	manager := operator.Start(t, w.Cluster, "-controllers=quorum", "-leader-elect=false", "-quorum-etcd="+strings.Join(backend.Etcd.Endpoints, ","),
		"-quorum-resync=1s", "-quorum-machines=fleet/role=master", "-quorum-pods=etcd/app=etcd")
	manager.Ready()
	// passes waits until a check finds nothing wrong.
	passes := func(what string, check func(*engine.World) string) {
		t.Helper()
		w.eventually(what, func() string {
			seen, err := backend.Observe(t.Context(), "control-plane")
			if err != nil {
				return err.Error()
			}
			wrong := check(seen)
			if wrong != "" {
				time.Sleep(200 * time.Millisecond)
			}
			return wrong
		})
	}
	passes("three machines with the hook", func(w *engine.World) string {
		for _, m := range w.Machines {
			if !slices.Equal(m.Spec.LifecycleHooks.PreDrain, []lifecycle.Hook{engine.Hook()}) {
				return m.Name + " has no hook"
			}
		}
		return votersAre(w, "n1 n2 n3", 3)
	})

	// A client writes all the time.
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	writes, worst := 0, time.Duration(0)
	writers.Go(func() {
		for begin := time.Now(); ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			if all.put(1, "meanwhile", time.Now().String()) == "" {
				writes, worst, begin = writes+1, max(worst, time.Since(begin)), time.Now()
			}
		}
	})
	all.kill(2)
	w.deleteMachine("m2")
	passes("the dead member is removed from the cluster, and its machine proceeds", func(w *engine.World) string {
		for _, m := range w.Machines {
			if m.Name == "m2" && len(m.Spec.LifecycleHooks.PreDrain) > 0 {
				return "m2 has its hook"
			}
		}
		return votersAre(w, "n1 n3", 2)
	})
	w.member(4, false)
	passes("the process that waits is added", func(w *engine.World) string {
		if len(w.Members) != 3 {
			return "no learner is added"
		}
		return ""
	})
	all.start(4, "existing", 1, 3, 4)
	passes("the new member votes", func(w *engine.World) string { return votersAre(w, "n1 n3 n4", 3) })
	stop()
	writers.Wait()
	w.rightsUsed([]string{"rbac-quorum.yaml"}, "delete /pods") // there are no guards
	if text := all.get(4, "before"); !strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("kept"))) {
		t.Errorf("the new member has %s", text)
	}
	if writes == 0 || worst > 30*time.Second {
		t.Errorf("%d writes, the longest after %v", writes, worst)
	}
	t.Logf("%d writes while a member died and was replaced; the longest pause was %v", writes, worst)
}

// votersAre compares the names of the voters, and how many of them are healthy.
func votersAre(w *engine.World, names string, healthy int) string {
	var voters []string
	for _, m := range w.Members {
		if m.Learner {
			return m.Name + " does not vote yet"
		}
		voters = append(voters, m.Name)
		if m.Healthy {
			healthy--
		}
	}
	if slices.Sort(voters); strings.Join(voters, " ") != names || healthy != 0 {
		return fmt.Sprintf("voters %v, of which %d fewer are healthy than should", voters, healthy)
	}
	return ""
}

// member creates machine, node and pod of a member; its pod is not ready unless it
// is a member from the beginning.
func (w *world) member(i int, ready bool) {
	w.Helper()
	name := fmt.Sprint("n", i)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}}
	w.create(n)
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: etcdAddress(i)}}
	if err := w.admin.Status().Update(w.Context(), n); err != nil {
		w.Fatal(err)
	}
	m := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"providerID": "i-" + name}}}
	m.SetGroupVersionKind(machines.Kind)
	m.SetNamespace("fleet")
	m.SetName(fmt.Sprint("m", i))
	m.SetLabels(map[string]string{"role": "master"})
	m.SetFinalizers([]string{lifecycle.Finalizer})
	w.create(m)
	m.Object["status"] = map[string]any{
		"phase": "Running", "nodeRef": map[string]any{"kind": "Node", "name": name}, "addresses": []any{map[string]any{"type": "InternalIP", "address": etcdAddress(i)}},
	}
	if err := w.admin.Status().Update(w.Context(), m); err != nil {
		w.Fatal(err)
	}
	p := w.pod("etcd", "etcd-"+name, name, func(p *corev1.Pod) { p.Labels = map[string]string{"app": "etcd"} })
	p.Status.Phase = corev1.PodRunning
	if ready {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	if err := w.admin.Status().Update(w.Context(), p); err != nil {
		w.Fatal(err)
	}
}
