// Package taints compares the taints package with Kubernetes' own code: both get the
// same questions, their answers are compared, and then timed.
package taints
