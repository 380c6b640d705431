// Package fleet answers what the taints of many nodes mean for many pods, from a
// table: for a scheduler that asks about every pod and every node, and for whoever
// draws the whole matrix.
//
// A scheduler's plugin keeps one [Matcher]. It calls [Matcher.SetNode] and
// [Matcher.DeleteNode] as nodes change, asks [Matcher.RowFor] once for a pod that
// is to be placed, and the [Row] once for each node, from as many goroutines as it
// likes.
package fleet
