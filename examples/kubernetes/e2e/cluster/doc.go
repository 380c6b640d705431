// Package cluster starts a Kubernetes control plane for tests: etcd,
// kube-apiserver and kube-controller-manager, on loopback, in a temporary
// directory, and nothing else on the machine is touched.
//
//	func TestOperator(t *testing.T) {
//		c := cluster.ForTest(t, nil) // skips where the servers are not built
//		client, err := kubernetes.NewForConfig(c.Config())
//		...
//	}
//
// What is real: authentication by certificates and tokens, RBAC, admission,
// storage, watches, server-side apply, finalizers, garbage collection,
// disruption budgets and the eviction subresource, Deployments and their like.
//
// What is not there: kubelets and the scheduler, which [Kubelets] plays; and
// those controllers of the controller manager that do what the engines do,
// evicting pods from tainted nodes and tainting nodes that do not report.
//
// Beyond what a client sees, a test can count the requests that the server
// answered ([Cluster.Requests]), take the server away and bring it back
// ([Cluster.StopAPIServer], [Cluster.StartAPIServer]), and ask what memory a
// process holds ([MemoryOf]).
//
// Everything ends with [Cluster.Stop]. Should the test's process die before,
// by a panic, a timeout or a signal, a watchdog process ends the servers and
// removes their files.
//
// The package works on Unix systems.
package cluster
