// Package cluster starts a Kubernetes control plane for tests: etcd,
// kube-apiserver and kube-controller-manager, on loopback, in a temporary
// directory, without touching anything else on the machine.
//
//	func TestOperator(t *testing.T) {
//		c := cluster.ForTest(t, nil) // skips where the servers are not built
//		client, err := kubernetes.NewForConfig(c.Config())
//		...
//	}
//
// What is real: authentication by certificates and tokens, RBAC, admission,
// storage, watches, server-side apply, finalizers, garbage collection,
// disruption budgets and the eviction subresource, Deployments and other
// workloads.
//
// What is missing: kubelets and the scheduler, which [Kubelets] simulates;
// and those controllers of the controller manager whose work the engines do,
// evicting pods from tainted nodes and tainting silent nodes.
//
// Beyond what a client sees, a test can count the requests that the server
// answered ([Cluster.Requests]), stop the server and start it again
// ([Cluster.StopAPIServer], [Cluster.StartAPIServer]), and measure the memory
// of a process ([MemoryOf]).
//
// [Cluster.Stop] ends everything. If the test's process dies earlier, by a
// panic, a timeout or a signal, a watchdog process kills the servers and
// removes their files.
//
// The package works on Unix systems.
package cluster
