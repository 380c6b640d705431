// Package diff compares the content of catalogs: [Compare] reports what changed from
// one catalog to another, package by package, and which installations from the old one
// lose their upgrade path in the new one. Files, formats and the order of documents do
// not matter.
package diff
