// Package source opens the places where file-based catalogs lie as file
// systems, for catalog.Open to read:
//
//  1. a directory;
//  2. an archive, .tar or .tar.gz, of a directory;
//  3. an OCI image layout, as a directory or an archive of one, whose image
//     says by the label operators.operatorframework.io.index.configs.v1 where
//     in it the catalog lies;
//  4. one file of JSON or YAML documents, such as the JSON lines that a
//     catalog service sends.
//
// Which of them it is is seen from the content, not from the name. Archives are
// read in memory, compressed; the layers of an image are unpacked into a
// directory for temporary files. Both stay within limits, and nothing in them
// can lead out of them.
package source
