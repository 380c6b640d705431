// Package payload reads release payloads of OpenShift, and says which of their
// manifests belong to a cluster, in which order they are applied, and how long that
// takes, approximately.
//
//	p, err := payload.Load(os.DirFS("release"), nil) // what the image holds
//	selection := p.Select(nil)                       // what belongs to this cluster
//	graph := payload.NewGraph(selection.Tasks, nil)        // in which order
//	run := graph.Start(nil)                                // what may begin now
//
// # The order
//
// The names of the files give it: 0000_<runlevel>_<component>_<rest>.
//
//  1. The operator's own manifests come before all others.
//  2. A lower runlevel comes before a higher one. Runlevels have two digits, and
//     are compared as text.
//  3. Within a runlevel, components do not wait for each other.
//  4. Within a component, manifests are applied in the order of their names.
//  5. A batch Job waits for everything before it, and everything after it waits
//     for the Job.
//
// To install or reconcile a cluster, the order of runlevels is ignored
// ([GraphOptions].Flatten).
//
// # Applying
//
// This package applies nothing. A [Run] says which tasks may start, and is told when
// they end; no worker is idle while a task is ready. [Graph.Schedule] does the
// same in virtual time, and [NewPlan] shows what takes long: the critical path, and
// which worker does what when.
//
// # Costs
//
// Load keeps one file in memory at a time, and the manifests as JSON. Everything
// else takes time proportional to the number of manifests; a hundred thousand take
// less than a second.
package payload
