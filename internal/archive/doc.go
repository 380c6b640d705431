// Package archive reads tar archives, compressed with gzip or not, as file
// systems.
//
// [Read] reads the archive once and keeps the files' contents in compressed
// blocks. It uses about as much memory as the compressed archive is large, and
// decompresses only one block to read any part of a file. It writes nothing to
// disk.
//
// Archives are not trusted: names that lead out of the archive, links to files
// that do not exist, more bytes or files than the limits allow, and archives
// that end too early or are damaged are errors that name the entry at fault.
package archive
