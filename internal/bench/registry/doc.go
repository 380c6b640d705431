// Package registry compares the catalog package with operator-registry, the library
// of opm: what it says about broken catalogs (the tests), and what it costs on valid
// ones ([Report]).
package registry
