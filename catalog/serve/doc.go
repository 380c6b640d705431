// Package serve serves a catalog over HTTP, with the API of catalogd, which
// operator-controller and consoles use: [NewHandler] is the service, and [Client] reads
// from one.
//
//	GET /api/v1/all                              all documents, as JSON lines
//	GET /api/v1/metas?schema=&package=&name=     those that match all of these
//
// Both support HEAD, compression, If-None-Match and If-Modified-Since; all also
// supports ranges. The handler keeps no documents in memory: it reads what it sends
// from the files.
//
// [NewPackages] serves the packages of catalogs as OLM's package server does, to
// kubectl and consoles.
package serve
