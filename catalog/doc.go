// Package catalog reads and queries file-based catalogs of operators.
//
// A catalog is a directory of JSON and YAML files. Every document in them says
// by its schema what it is: olm.package, olm.channel, olm.bundle,
// olm.deprecations, or anything else. [Open] goes through all files once,
// checks the syntax of every document, and keeps an index: what each document
// is and where it lies, the channels' entries, and what each bundle provides
// and requires. Bundles' payloads, which are nearly all of the bytes, stay in
// the files and are read when asked for.
//
// [Package], [Channel] and [Bundle] answer what resolvers ask: entries, heads,
// versions, providers of an API, and the properties of a bundle that are no
// payload ([Bundle.Facts]). [Graph] is the updates within a channel: paths
// between versions, and in words why there is none. [Document] gives the bytes
// of anything in the catalog, as they are in its file. [Decode] reads one
// stream of documents instead of a directory.
//
// A [Catalog] never changes and may be used by many goroutines.
// [Catalog.Reopen] gives the catalog as it is now and reads again only the
// files that changed.
//
// Faults in the content are reported all at once, as [Diagnostics]: each names
// the file, line and column, has a stable code, and says what to do.
//
// What is done with catalogs stands in packages below this one: check judges
// them, diff compares them, edit makes others of them, draw draws the updates of
// a package, and source opens them wherever they lie; bundle reads what bundles
// are made from, and template what catalogs are. [Catalog.Write] writes a
// catalog, what it does not understand as it is; [New] makes one of documents.
package catalog
