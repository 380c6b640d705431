// Package diff compares catalogs by what they say: [Compare] tells what changed
// from one catalog to another, package by package, and which users of the old
// one find no way on in the new one. Where documents lie, in which format and
// order, plays no role.
package diff
