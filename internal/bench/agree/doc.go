// Package agree holds no code: its tests compare what fairlead reads (version
// ranges, olm.constraint, CEL rules) with what the libraries of a cluster read.
package agree
