// Package e2e has the end-to-end tests of the controllers, each against a real
// API server of package cluster with the real program of package operator. There
// are no kubelets and no scheduler: the tests play them.
//
// Without the servers' programs the tests are skipped; e2e/run builds them.
package e2e
