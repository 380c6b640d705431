// Package taints puts the taints package beside Kubernetes' own code: the same
// questions to both, answers compared, and then timed.
package taints
