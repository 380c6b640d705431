// Package serve offers a catalog over HTTP, by the API of catalogd, from which
// operator-controller and consoles read: [NewHandler] is the service, and
// [Client] reads one, this or another.
//
//	GET /api/v1/all                              all documents, as JSON lines
//	GET /api/v1/metas?schema=&package=&name=     those that have all of these
//
// Both answer HEAD, compress on request, and take If-None-Match and
// If-Modified-Since; all takes ranges, too. The handler holds no document: it
// reads from the files what it sends.
//
// [NewPackages] offers the packages of catalogs as OLM's package server does, to
// kubectl and consoles.
package serve
