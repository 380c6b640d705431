// Package doc splits streams of JSON and YAML documents, finds their outline
// and knows the line and column of everything in them.
//
// A [Reader] goes through a stream with one window and yields one [Document]
// at a time: JSON objects written one after the other, YAML documents between
// "---" lines, and both mixed in any way. The name of the file plays no role.
// Each document comes with an outline: the extents of its members down to
// four levels, found in the same pass that checks the syntax, so that a caller
// picks out a few fields of a large document without decoding the rest.
//
// A YAML document is turned into JSON once it is parsed, and the outline is
// that of the JSON text; positions still are those of the YAML source.
//
// Documents that are read whole, such as manifests, become a [Value] by [Tree],
// and [Decode] fills a struct from one and tells every value that does not fit.
//
// The pass is strict where encoding/json is lenient: duplicate keys, bytes
// that are not UTF-8 and lone surrogates are errors with a position. It is the
// same in every build, whichever engine encoding/json runs on.
//
// This is the only package that imports a YAML library, and none of its types
// show.
package doc
