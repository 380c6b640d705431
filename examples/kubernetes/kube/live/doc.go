// Package live reads a cluster as a whole from its API server: for the status of an
// update ([Inspect]), and for plans ([Read]).
//
// Lists are read in pages. What the server refuses or does not have is a gap that says
// why and how to get it, and never counts as good news: a list is read whole, or it is
// unknown. The answers are those that a dump of the same objects gets.
package live
