// Package diagnosis says what a cluster waits for, why, and what to do next.
//
//	d := diagnosis.Diagnose(snapshot, time.Time{}, nil)
//	d.Word           // the verdict, in one word
//	d.Says           // the causes, each in a sentence
//	d.Steps          // what to do, in this order, with commands
//	d.Graph          // what waits for what
//
// # Causes
//
// It asks the other engines (the state of the update, the pools, nodes, drains, machines, placement)
// and joins their answers into one [Graph]: an edge says that one thing waits for another. What waits
// for nothing else that is wrong is a [Cause]; everything else is explained by it, once. What ends by
// itself in a time that is normal is Going, and no cause. Each node and edge says how it is known:
// seen, derived by an engine, or assumed.
//
// # Steps
//
// A [Step] is tried: it is carried out on a copy of what is known, after the steps before it, the
// cluster reacts (pods are placed, budgets counted), and the graph is built again. What is no longer
// stuck is what the step frees. A step that no engine can carry out, such as the repair of a machine,
// is assumed to succeed, says so, and names the command that shows whether it did.
//
// # What is not known
//
// A list that the snapshot does not have is never taken for good news: it is in Unknown, with the
// command that shows it, and the verdict is then not Healthy.
package diagnosis
