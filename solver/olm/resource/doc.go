// Package resource has the types of the objects of the Operator Lifecycle Manager that
// several packages read: subscriptions, cluster service versions, install plans, and the
// extensions and catalogs of OLM v1. It decides nothing, and links neither the solver
// nor CEL, so that what only reads such objects stays small.
//
// Their JSON forms are those of the API. Only the fields that somebody reads are there.
// Operator groups are in package group, catalog sources in package source, operator
// conditions in package gate, and definitions of custom resources in package crd.
package resource
