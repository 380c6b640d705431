// Package fleet answers what the taints of many nodes mean for many pods, from a
// table: for a scheduler that asks about every pod and every node, or to draw the
// whole matrix.
//
// A scheduler plugin keeps one [Matcher]. It calls [Matcher.SetNode] and
// [Matcher.DeleteNode] as nodes change, [Matcher.RowFor] once for each pod to place,
// and asks the [Row] once for each node, from any number of goroutines. [Matcher.Why] and
// [Matcher.Rejections] say why a pod is kept off.
package fleet
