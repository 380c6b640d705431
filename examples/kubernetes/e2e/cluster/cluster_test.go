//go:build unix

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
)

// TestCluster takes one cluster through its life: the parts depend on each
// other in this order.
func TestCluster(t *testing.T) {
	begin := time.Now()
	c := cluster.ForTest(t, nil)
	t.Logf("started in %s", time.Since(begin).Round(time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	admin := clientFor(t, c.Config())

	t.Run("ready", func(t *testing.T) { testReady(ctx, t, c, admin) })
	t.Run("authorization", func(t *testing.T) { testAuthorization(ctx, t, c, admin) })
	t.Run("requests", func(t *testing.T) { testRequests(ctx, t, c, admin) })
	t.Run("preconditions", func(t *testing.T) { testPreconditions(ctx, t, c, admin) })
	t.Run("outage", func(t *testing.T) { testOutage(ctx, t, c, admin) })
	t.Run("stop", func(t *testing.T) { testStop(t, c) })
}

func testReady(ctx context.Context, t *testing.T, c *cluster.Cluster, admin kubernetes.Interface) {
	text, err := admin.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	if err != nil || string(text) != "ok" {
		t.Errorf("/readyz = %q, %v", text, err)
	}
	if _, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The controller manager gives every namespace its default service account.
	eventually(ctx, t, "the service account of a new namespace", func() error {
		_, err := admin.CoreV1().ServiceAccounts("shop").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	pids := c.PIDs()
	if len(pids) != 3 {
		t.Errorf("processes %v, want etcd, kube-apiserver and kube-controller-manager", pids)
	}
	for name, pid := range pids {
		m, err := cluster.MemoryOf(pid)
		if err != nil {
			t.Error(err)
		}
		if m.Resident < 10<<20 {
			t.Errorf("%s holds %d bytes: too little to be true", name, m.Resident)
		}
		t.Logf("%s: %d MiB resident, %d MiB at most", name, m.Resident>>20, m.Peak>>20)
	}
}

// testAuthorization checks that RBAC is enforced for service accounts and
// users.
func testAuthorization(ctx context.Context, t *testing.T, c *cluster.Cluster, admin kubernetes.Interface) {
	account, err := c.ConfigForServiceAccount(ctx, "shop", "default")
	if err != nil {
		t.Fatal(err)
	}
	user, err := c.ConfigForUser("ada", "cooks")
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]*rest.Config{
		"system:serviceaccount:shop:default": account,
		"ada":                                user,
	} {
		_, err := clientFor(t, config).CoreV1().ConfigMaps("shop").List(ctx, metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("listing as %s without rights: %v, want that this user is forbidden to", name, err)
		}
		denied, err := c.Requests(cluster.Filter{User: name, Verb: "list", Resource: "configmaps", Namespace: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		if len(denied) != 1 || denied[0].Code != 403 {
			t.Errorf("requests of %s: %+v, want one answered 403", name, denied)
		}
	}
	grant(ctx, t, admin, "shop", "cooks")
	eventually(ctx, t, "the rights of a group", func() error {
		_, err := clientFor(t, user).CoreV1().ConfigMaps("shop").List(ctx, metav1.ListOptions{})
		return err
	})
}

// testRequests compares the audit log with the requests made. A request must
// be in the log as soon as it is answered, so there is no waiting here.
func testRequests(ctx context.Context, t *testing.T, c *cluster.Cluster, admin kubernetes.Interface) {
	begin := time.Now().Add(-time.Second)
	filter := cluster.Filter{User: cluster.AdminUser, Verb: "create", Resource: "configmaps", Namespace: "shop", Since: begin}
	for n := range 50 {
		_, err := admin.CoreV1().ConfigMaps("shop").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}, metav1.CreateOptions{FieldManager: "counter"})
		if err != nil {
			t.Fatal(err)
		}
		if got := requests(t, c, filter); len(got) != n+1 {
			t.Fatalf("%d requests after %d", len(got), n+1)
		}
	}
	last := requests(t, c, filter)[49]
	if manager, force := last.FieldManager(); manager != "counter" || force || last.Code != 201 || last.Delete != nil {
		t.Errorf("a create: field manager %q, force %v, code %d, options %v", manager, force, last.Code, last.Delete)
	}
	filter.Since = time.Now().Add(time.Hour)
	if got := requests(t, c, filter); got != nil {
		t.Errorf("%d requests of the future", len(got))
	}

	watch, err := admin.CoreV1().ConfigMaps("shop").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watches := cluster.Filter{User: cluster.AdminUser, Verb: "watch", Resource: "configmaps"}
	if got := requests(t, c, watches); len(got) != 1 || got[0].Code != 200 {
		t.Errorf("watches that are open: %+v, want one", got)
	}
	open := requests(t, c, watches)[0].Answered
	watch.Stop()
	eventually(ctx, t, "the end of a watch", func() error {
		got := requests(t, c, watches)
		if len(got) != 1 {
			t.Fatalf("%d watches after one ended, want one", len(got))
		}
		if !got[0].Answered.After(open) {
			return errors.New("it is still open")
		}
		return nil
	})
}

// testPreconditions checks that the log distinguishes deletions and evictions
// with preconditions from those without.
func testPreconditions(ctx context.Context, t *testing.T, c *cluster.Cluster, admin kubernetes.Interface) {
	maps := admin.CoreV1().ConfigMaps("shop")
	for _, name := range []string{"with", "without"} {
		made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		options := metav1.DeleteOptions{}
		if name == "with" {
			options.Preconditions = metav1.NewUIDPreconditions(string(made.UID))
		}
		if err := maps.Delete(ctx, name, options); err != nil {
			t.Fatal(err)
		}
		got := requests(t, c, cluster.Filter{Verb: "delete", Resource: "configmaps", Name: name})
		if len(got) != 1 {
			t.Fatalf("deletions of %s: %+v, want one", name, got)
		}
		want := made.UID
		if name == "without" {
			want = ""
		}
		if uid := got[0].PreconditionUID(); uid != want {
			t.Errorf("the deletion of %s had the precondition %q, want %q", name, uid, want)
		}
	}
}

// testOutage stops the API server for a while.
func testOutage(ctx context.Context, t *testing.T, c *cluster.Cluster, admin kubernetes.Interface) {
	before, err := admin.CoreV1().ConfigMaps("shop").List(ctx, metav1.ListOptions{})
	if err != nil || len(before.Items) < 50 {
		t.Fatalf("%d config maps, %v", len(before.Items), err)
	}
	if err := c.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	if err := c.StopAPIServer(); err == nil {
		t.Error("the API server was stopped twice")
	}
	for range 4 {
		if _, err := admin.CoreV1().ConfigMaps("shop").List(ctx, metav1.ListOptions{}); err == nil {
			t.Error("the API server answers though it is stopped")
		}
		time.Sleep(500 * time.Millisecond)
	}
	if got := requests(t, c, cluster.Filter{Verb: "create", Resource: "configmaps", User: cluster.AdminUser}); len(got) != 52 {
		t.Errorf("%d creates in the log during the outage, want 52", len(got))
	}
	begin := time.Now()
	if err := c.StartAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("back in %s", time.Since(begin).Round(time.Millisecond))
	if err := c.StartAPIServer(ctx); err == nil {
		t.Error("the API server was started twice")
	}
	after, err := admin.CoreV1().ConfigMaps("shop").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Items) != len(before.Items) {
		t.Errorf("%d config maps after the outage, %d before", len(after.Items), len(before.Items))
	}
	// The controller manager has also recovered.
	if err := admin.CoreV1().Namespaces().Delete(ctx, "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "the end of a namespace", func() error {
		_, err := admin.CoreV1().Namespaces().Get(ctx, "shop", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// testStop checks that nothing is left.
func testStop(t *testing.T, c *cluster.Cluster) {
	pids, dir := c.PIDs(), c.Dir()
	begin := time.Now()
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("stopped in %s", time.Since(begin).Round(time.Millisecond))
	for name, pid := range pids {
		if alive(pid) {
			t.Errorf("%s (process %d) is still there", name, pid)
		}
	}
	if left := naming(t, dir); left != nil {
		t.Errorf("processes that still name %s: %q", dir, left)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("stopped once more: %v", err)
	}
	if err := c.StartAPIServer(t.Context()); err == nil {
		t.Error("the API server of a stopped cluster was started")
	}
	if got := c.PIDs(); len(got) != 0 {
		t.Errorf("processes of a stopped cluster: %v", got)
	}
}

// alive reports whether a process is running. One that died with its parent
// may stay in the process table if the first process of a container waits for
// none; then it no longer has a command line.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err != nil || len(line) > 0
}

// naming returns the command lines of the processes that name dir, if the
// system has /proc.
func naming(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		if strings.Contains(string(line), dir) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
