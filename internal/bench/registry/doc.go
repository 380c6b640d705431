// Package registry puts the catalog package beside operator-registry, the
// library of opm: what it says of broken catalogs (the tests), and what it
// costs on sound ones ([Report]).
package registry
