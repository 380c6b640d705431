// Package object holds the shapes of the Kubernetes API that several engines
// speak of: metadata, pods, nodes, taints, disruption budgets, label selectors,
// conditions, rules of access. Each has the API's JSON names, and the fields
// that some engine reads or writes. The engines export those they use as
// aliases, so that their types are one.
package object
