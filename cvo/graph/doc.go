// Package graph reads update graphs of clusters: which releases a cluster can
// update to, with which risks, by which path, and why not to another one.
//
// A graph comes from an update service as one JSON document ([Parse]), or is
// assembled from a raw graph of releases and a directory of graph data with
// channels and blocked updates ([ReadData], [Data.Assemble]). [Query] is a request
// to a service, [Query.Fetch] sends it, and [FetchState] says when to ask again and
// what to keep when that fails. [Service] is such a service. A program built with the
// tag nohttp has neither [Query.Fetch] nor [Service], and does not link net/http.
//
// [Graph.Updates] lists the updates that are one hop away: those recommended for
// every cluster, and the conditional ones, each with its risks. An [Evaluator]
// decides whether a cluster is exposed to a risk. [Evaluations] keeps its answers and
// says what to evaluate (again) and when, and [Evaluations.Recommend] turns them into
// the condition that the ClusterVersion reports. An unknown kind of rule never counts
// as "not exposed".
//
// [Graph.Paths] looks further than one update: it finds the shortest paths, those
// with the fewest risks, or those that cross the fewest minor versions.
// [Graph.WhyNot] explains why an update is not offered, and what would help.
//
// Graphs are immutable and may be used by many goroutines. The input decides the
// order of every list.
//
// The format and the algorithm are those of OpenShift's documents on the update
// service and of its enhancement on conditional updates.
package graph
