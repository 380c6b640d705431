// Package opam reads a repository of OCaml packages, and asks which can be
// installed: of fairlead, and of libsolv's installcheck. It counts what is asked where
// the repository tells only when it is asked, beside the rule of PubGrub.
//
// FAIRLEAD_OPAM names a clone of github.com/ocaml/opam-repository, bare or not. The
// peer comes with "apt-get install libsolv-tools". What is not there is skipped.
//
// The format: https://opam.ocaml.org/doc/Manual.html
package opam
