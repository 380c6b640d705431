// Package opam reads a repository of OCaml packages, and determines which can be
// installed, with fairlead and with libsolv's installcheck. It also counts the queries
// to a repository that is read lazily, and compares them with those by the rule of
// PubGrub.
//
// FAIRLEAD_OPAM names a clone of github.com/ocaml/opam-repository, bare or not. The
// peer comes with "apt-get install libsolv-tools". What is missing is skipped.
//
// The format: https://opam.ocaml.org/doc/Manual.html
package opam
