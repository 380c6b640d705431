// Package scene reads files that say what a cluster holds and what happens in it:
// one format for whatever plays them, be it one engine or all.
//
// A file is a stream of YAML or JSON documents: one of kind Scenario, and objects as
// the API has them. Who plays it says which fields of the Scenario it plays; others in a
// file are refused, so that nothing is left out in silence.
package scene
