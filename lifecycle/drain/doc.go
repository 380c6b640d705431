// Package drain takes nodes out of service without killing what runs on them.
//
// [Pods] decides what comes next about the pods of one node; packages that have
// reasons of their own to empty a node call it. [NewPlan] tells beforehand how
// drains would go, by the same code.
//
// [Step] is an engine of requests: whoever needs a node out of service, for
// maintenance, a reboot or its removal, makes a [Request], and ends it when the
// work is done. There may be several for one node; the last one to end gives the
// node back. A request can be paused and resumed. A [Runner] drives it, on a
// [Backend] that you write:
//
//	runner, err := drain.NewRunner(backend, nil, &fairlead.RunnerOptions{Store: store})
//	...
//	go runner.Run(ctx)
//	runner.Trigger("node-1") // something has changed about node-1 or its requests
//
// What a Backend owes: (1) Observe returns what belongs together; (2) Apply refuses
// what is about another UID; (3) it triggers the Runner when a request, a node, its
// pods or their budgets change.
//
// [Admit] bounds how many nodes are out of service at the same time: by number or
// percentage, of a pool or zone, in order of priority, with replacements first where
// they can come first. A [Gate] keeps its slots in a store. What it says of a node is
// World.Slots.
//
// A drain cordons the node, judges each pod by its [Filter]s, and evicts those on
// turn: by order, where a [Rule] gives one. A disruption budget that is known to
// refuse is not asked; what the API refuses is asked for again after times that
// double, and what it said is kept. One pod that cannot go holds up no other of
// its order. No pod is deleted by force on a guess: only where its instance is
// known not to run, and policy says so.
package drain
