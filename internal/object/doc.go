// Package object holds what several engines ask of Kubernetes objects, whose shapes
// are in the root package: which budgets select a pod, what the eviction API answers,
// which toleration matches a taint, where JSON does not fit a shape.
package object
