// Package snapshot has one reading of a cluster: what is known of it, from any dump that
// people have, and what is not known. Everything that answers for a whole cluster is a
// view of a [Snapshot].
//
//	var r snapshot.Reader
//	err := r.FS(root.FS(), dir) // a must-gather, a support bundle, lists in files, ...
//	err = r.Stream(os.Stdin, "standard input")
//	s, err := r.Snapshot()
//
//	for i := range s.Nodes.Items { ... }            // by namespace and name
//	s.Pods.Scope.Covers("shop")                     // are all pods of shop known?
//	pod, is := s.Pods.Get("shop", "web-0")          // Present, Absent or Unknown
//	s.Pods.Known()                                  // nil unless something was looked at
//	s.PodsOn("worker-0"), s.BudgetsOf(pod)          // indexes, built once
//
// # Unknown
//
// Each kind is a [List] with a [Scope]: what was looked at. That an object does not exist is
// known only inside the scope. A file that could not be read, a list that was cut off and a
// request that was refused are gaps of the scope: then nothing is known to be absent where
// the gap is. A field of an unexpected shape is as if it had not been written; [Ref.Odd] has
// its path, and Snapshot.Warnings where it is.
//
// A list does not say what was asked for. Objects of several namespaces are taken as those of all, and
// those of one as of that one ([Scope.Assumed], [Snapshot.Narrowed], [Reader.Everywhere]). With which
// selector kubectl was called, nothing in its output tells: give a Reader lists without selectors.
//
// # Forms
//
// A [Reader] understands the output of kubectl and oc get (objects, lists, lists in lists, one
// after the other, JSON or YAML), must-gathers and what oc adm inspect writes, insights
// archives, kubectl cluster-info dump (a directory, or its output with logs in between) and
// support bundles of troubleshoot.sh. What is not an object of Kubernetes is skipped.
// Secrets are not decoded.
//
// # Time
//
// Snapshot.Clock.At is when the cluster was looked at: the latest time that a server wrote into
// what was read; see [Clock]. Ages count from it.
//
// Items, refs and indexes are shared and must not be changed.
package snapshot
