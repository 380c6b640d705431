// Package agree contains no code: its tests compare how fairlead reads version
// ranges, olm.constraint and CEL rules with how the libraries of a cluster do.
package agree
