// Package debian determines which packages of a Debian release can be installed,
// with fairlead and with the programs that the distribution itself uses: libsolv's
// installcheck and dose-debcheck. The answers are compared before anything is
// timed.
//
// The package lists are those of the machine ("apt-get update" gets them), or
// the file that FAIRLEAD_DEBIAN names: an uncompressed Packages file. The peers
// come with "apt-get install libsolv-tools dose-distcheck aspcud clasp". What is
// missing is skipped.
package debian
