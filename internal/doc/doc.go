// Package doc splits streams of JSON and YAML documents, finds their outline,
// and reports the line and column of everything in them.
//
// A [Reader] reads a stream through one window and returns one [Document] at a
// time: JSON objects written one after the other, YAML documents between "---"
// lines, and any mixture of both. The name of the file does not matter. Each
// document comes with an outline: the extents of its members down to four
// levels, found in the same pass that checks the syntax, so that a caller can
// read a few fields of a large document without decoding the rest.
//
// A YAML document is converted to JSON when it is parsed, and the outline is
// that of the JSON text; positions are still those of the YAML source.
//
// For documents that are read as a whole, such as manifests, [Tree] returns a
// [Value], and [Decode] fills a struct from one and reports every value that
// does not fit.
//
// The pass is strict where encoding/json is lenient: duplicate keys, bytes that
// are not UTF-8 and lone surrogates are errors with a position. It is the same
// in every build, for either implementation of encoding/json.
//
// This is the only package that imports a YAML library, and it exposes none of
// the library's types.
package doc
