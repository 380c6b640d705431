// Package placement compares taints/placement with the filter plugins of
// kube-scheduler, on random clusters.
package placement
