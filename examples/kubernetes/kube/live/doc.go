// Package live reads a whole cluster from its API server: for the status of an
// update ([Inspect]), and for plans ([Read]).
//
// Lists are read in pages. Data that the server refuses or lacks is a gap, with the
// reason and how to get it, and never counts as good news: a list is either complete
// or unknown. The answers equal those for a dump of the same objects.
package live
