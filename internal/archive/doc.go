// Package archive reads tar archives, compressed with gzip or not, as file
// systems.
//
// [Read] goes through the archive once and keeps the files' contents in
// compressed blocks, so that it takes about as much memory as the compressed
// archive has bytes, and any part of any file is at hand after one block is
// decompressed. Nothing is written to disk.
//
// Archives are not trusted: names that lead out of the archive, links to
// nowhere, more bytes or files than the limits allow, and archives that end
// too early or are damaged are errors that say which entry is at fault.
package archive
