// Package beside tests the clients of what stands beside a cluster on the real
// thing, each in a process of its own: a registry (distribution) and a catalog
// service (opm serve). Its tests are skipped where e2e/run has not built them.
package beside
