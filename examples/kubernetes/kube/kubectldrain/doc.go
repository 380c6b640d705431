// Package kubectldrain is a drop-in replacement for k8s.io/kubectl/pkg/drain, with
// the same names (as of v0.36). To use it, change one import:
//
//   - "k8s.io/kubectl/pkg/drain"
//   - drain "github.com/fairlead/fairlead/examples/kubernetes/kube/kubectldrain"
//
// It differs as follows, thanks to the engine of lifecycle/drain:
//
//  1. It plans first. A pod that can never be evicted, because its budgets allow no
//     eviction even while all their pods are healthy, is an error at once
//     ([*NeverError]), and nothing is evicted, unless [Helper].TryNever is set.
//  2. It limits its requests. An eviction that a budget does not allow at present is
//     not requested; one that the server refuses is retried with exponential backoff,
//     starting at EvictErrorRetryDelay. Pods are polled with one list per node, not
//     one by one. At most a hundred evictions are in flight.
//  3. It reports progress: after each change, how many pods are left, and why.
//  4. A node is cordoned, and a pod evicted, by UID: another object with the same name
//     is left alone.
//
// DryRunStrategy accepts kubectl's own constants, or those of this package.
package kubectldrain
