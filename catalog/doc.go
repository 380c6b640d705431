// Package catalog reads and queries file-based catalogs of operators.
//
// A catalog is a directory of JSON and YAML files. The schema of each document says
// what it is: olm.package, olm.channel, olm.bundle, olm.deprecations, or anything
// else. [Open] reads all files once, checks the syntax of every document, and keeps
// an index: the kind and position of each document, the entries of channels, and
// what each bundle provides and requires. The payloads of bundles, which make up
// nearly all of the bytes, stay in the files and are read on demand.
//
// [Package], [Channel] and [Bundle] have what resolvers need: entries, heads,
// versions, providers of an API, and the properties of a bundle other than its
// payload ([Bundle.Facts]). [Graph] holds the updates within a channel: it finds
// paths between versions, or explains why there is none. [Document] gives the bytes
// of any document, as they are in its file. [Decode] reads one stream of documents
// instead of a directory.
//
// A [Catalog] is immutable and may be used by many goroutines. [Catalog.Reopen]
// returns the catalog as it is now, and reads only the files that changed.
//
// All errors in the content are reported at once, as [Diagnostics]: each names the
// file, line and column, has a stable code, and says what to do.
//
// Packages below this one work on catalogs: check validates them, diff compares
// them, edit changes them, draw draws the updates of a package, and source opens them
// wherever they are stored; bundle reads the sources of bundles, and template those
// of catalogs. [Catalog.Write] writes a catalog and preserves what it does not
// understand; [New] builds one from documents.
package catalog
