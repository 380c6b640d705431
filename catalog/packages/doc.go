// Package packages shows a catalog as OLM's package server in a cluster would: as a
// PackageManifest for each package ([Of], [List]), which consoles list and "kubectl get
// packagemanifests" prints.
//
// A view is computed from the catalog. Nothing is stored.
package packages
