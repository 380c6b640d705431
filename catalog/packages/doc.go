// Package packages shows a catalog as a cluster does where OLM's package server
// runs: a PackageManifest for each package ([Of], [List]), which is what consoles
// list and what "kubectl get packagemanifests" prints.
//
// A view is computed from what the catalog says. Nothing of it is stored.
package packages
