// Package e2e contains the end-to-end tests of the controllers, each against a
// real API server of package cluster with the real program of package operator.
// There are no kubelets and no scheduler: the tests simulate them.
//
// Without the server programs the tests are skipped; e2e/run builds them.
package e2e
