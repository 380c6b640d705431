// Package source decides what a CatalogSource means: which image it runs
// ([CatalogSource.Image]), where ([CatalogSource.Placement]), when its registry is
// polled next ([CatalogSource.Poll]), and whether its catalog can be used
// ([CatalogSource.Err]). An OperatorHub says which default catalogs a cluster has
// ([Hub.Plan]).
//
// Types have the API's JSON names. Every function is pure; time is an argument.
package source
