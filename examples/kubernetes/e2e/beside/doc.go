// Package beside tests the clients of services beside a cluster against the
// real programs, each in its own process: a registry (distribution) and a
// catalog service (opm serve). Its tests are skipped if e2e/run has not built
// them.
package beside
