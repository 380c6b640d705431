// Package drain takes nodes out of service without killing what runs on them.
//
// [Pods] decides what comes next about the pods of one node; packages that have
// reasons of their own to empty a node call it. [NewPlan] tells beforehand how
// drains would go, by the same code.
//
// A drain cordons the node, judges each pod by its [Filter]s, and evicts those on
// turn: by order, where a [Rule] gives one. A disruption budget that is known to
// refuse is not asked; what the API refuses is asked for again after times that
// double, and what it said is kept. One pod that cannot go holds up no other of
// its order. No pod is deleted by force on a guess: only where its instance is
// known not to run, and policy says so.
package drain
