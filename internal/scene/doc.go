// Package scene reads files that describe a cluster and what happens in it, in
// one format for all players, of one engine or of all.
//
// A file is a stream of YAML or JSON documents: one of kind Scenario, and objects as the
// API has them. A player says which fields of the Scenario it plays; a file with others
// is rejected, so that nothing is silently ignored.
package scene
