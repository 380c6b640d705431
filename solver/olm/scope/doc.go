// Package scope decides what an install plan may do where the operator group
// names a service account: operators are then installed with the permissions of
// that account and no others.
//
// [Check] judges every step of a plan before any is applied, and names each rule
// that is missing, where the cluster itself would stop at the first. Creating a
// role takes the permissions that the role gives, since nobody can give what
// they do not have.
//
// Permissions are judged as the API server does it, by [Access]: the roles and
// bindings that exist. Every function is pure.
package scope
