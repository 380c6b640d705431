// Package crd decides whether a custom resource definition may be replaced by
// another one without harm to the objects that exist.
//
// [Replace] knows the rules of the Operator Lifecycle Manager: stored versions
// must stay, served versions must stay where several operators own the
// definition, and existing objects must be valid under the new schemas, which
// users judge with a [Validator] of theirs. [Compare] needs no objects: it tells
// what of a new schema could make an object invalid that was valid before.
//
// Every function is pure.
package crd
