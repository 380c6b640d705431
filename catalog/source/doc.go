// Package source opens file-based catalogs as file systems, for catalog.Open to
// read. A catalog can be stored as
//
//  1. a directory;
//  2. an archive, .tar or .tar.gz, of a directory;
//  3. an OCI image layout, as a directory or an archive of one, whose image
//     says by the label operators.operatorframework.io.index.configs.v1 where
//     the catalog is in it;
//  4. one file of JSON or YAML documents, such as the JSON lines that a
//     catalog service sends.
//
// The content decides which of these it is, not the name. Archives are kept in
// memory, compressed; the layers of an image are unpacked to a temporary directory.
// Both have size limits, and no path in them can escape them.
package source
