// Package kubectldrain has what k8s.io/kubectl/pkg/drain has, by the same names
// (as of its v0.36): who uses that package changes one import.
//
//   - "k8s.io/kubectl/pkg/drain"
//   - drain "github.com/fairlead/fairlead/examples/kubernetes/kube/kubectldrain"
//
// What it does otherwise, by the engine of lifecycle/drain:
//
//  1. It plans first. A pod that no waiting helps, because its budgets allow no
//     eviction even while all their pods are healthy, is an error at once
//     ([*NeverError]), and nothing is evicted: unless [Helper].TryNever says so.
//  2. It does not storm. What a budget does not allow at present is not asked
//     for; what the server refuses is retried with exponential backoff, from
//     EvictErrorRetryDelay on. Pods are watched by one list for each node, and
//     not one by one. At most a hundred evictions are asked for at a time.
//  3. It says how far it is: after each change how many pods are left, and why.
//  4. A node is cordoned, and a pod evicted, by its UID: another one of its name is
//     left alone.
//
// DryRunStrategy takes kubectl's own constants, or those here.
package kubectldrain
