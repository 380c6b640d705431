// Package object answers questions of several engines about Kubernetes objects, whose
// types are in the root package: which budgets select a pod, what the eviction API
// answers, which toleration matches a taint, where JSON does not fit a type.
package object
