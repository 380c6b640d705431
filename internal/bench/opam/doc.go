// Package opam reads a repository of OCaml packages, and asks which can be
// installed: of fairlead, and of dose-distcheck. Requests for upgrades made of it are
// put before aspcud, too.
//
// FAIRLEAD_OPAM names a clone of github.com/ocaml/opam-repository, bare or not. The
// peers come with "apt-get install dose-distcheck aspcud clasp". What is not there
// is skipped.
//
// The format: https://opam.ocaml.org/doc/Manual.html
package opam
