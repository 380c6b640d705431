// Package graph reads update graphs of clusters and answers what they offer:
// which releases a cluster may go to, under which risks, by which path, and why
// not to another one.
//
// A graph comes from an update service as one JSON document ([Parse]), or from
// its makings: a raw graph of releases and a directory of graph data that says
// which channels releases are in and which updates are blocked ([ReadData],
// [Data.Assemble]). [Query] is what a service is asked, [Query.Fetch] asks it,
// and [FetchState] says when to ask again and what to keep when that fails.
//
// [Graph.Updates] lists what can be updated to at once: the updates that are
// recommended whatever the cluster, and the conditional ones, each with its
// risks. Whether a cluster is exposed to a risk is for an [Evaluator] to say:
// [Evaluations] keeps what it said, tells what has to be asked (again) and
// when, and [Evaluations.Recommend] turns it into the condition that the
// cluster version reports. An unknown kind of rule is never taken for "not
// exposed".
//
// [Graph.Paths] looks further than one update: the shortest paths, those with
// the fewest risks, or those that cross the fewest minor versions.
// [Graph.WhyNot] explains why an update is not offered, and what would help.
//
// Graphs do not change once they are made and may be used by many goroutines.
// Every list has an order that the input decides.
//
// The format and the algorithm are those of OpenShift's documents on the update
// service and of its enhancement on conditional updates.
package graph
