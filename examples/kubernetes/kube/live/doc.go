// Package live reads a whole cluster from its API server: for the status of an
// update ([Inspect]), and for plans ([Read]).
//
// Lists are read in pages. What the server refuses or does not have is a gap, with
// the reason and the way to get it, and never counts as good news: a list is either
// read completely or unknown. The answers equal those for a dump of the same objects.
package live
