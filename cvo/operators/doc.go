// Package operators is a view of a snapshot: what it knows of the operators that
// the Operator Lifecycle Manager installs, as package explain asks for it.
package operators
