// Package packages shows a catalog as a cluster with OLM's package server would: as a
// PackageManifest for each package ([Of], [List]), which consoles list and "kubectl get
// packagemanifests" prints.
//
// A view is computed from the catalog. Nothing is stored.
package packages
