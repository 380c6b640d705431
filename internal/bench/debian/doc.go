// Package debian asks which packages of a Debian release can be installed, of
// fairlead and of the programs that the distribution itself asks: libsolv's
// installcheck and dose-debcheck. The answers are compared before anything is
// timed.
//
// The package lists are those of the machine ("apt-get update" gets them), or
// the file that FAIRLEAD_DEBIAN names: a Packages file, not compressed. The peers
// come with "apt-get install libsolv-tools dose-distcheck aspcud clasp". What is
// not there is skipped.
package debian
