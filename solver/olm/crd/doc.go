// Package crd decides whether a custom resource definition may be replaced by
// another one without harm to the objects that exist.
//
// [Replace] applies the rules of the Operator Lifecycle Manager: stored versions
// must stay, served versions must stay if several operators own the definition,
// and existing objects must be valid under the new schemas, which a [Validator]
// checks. [Compare] needs no objects: it lists changes of a schema that could
// make valid objects invalid.
//
// Every function is pure.
package crd
