// Package scope decides what an install plan may do where the operator group
// names a service account: operators are then installed with the permissions of
// that account and no others.
//
// [Check] checks every step of a plan before any is applied, and names each missing
// rule, whereas the cluster would stop at the first. Creating a role requires the
// permissions that the role grants, since nobody can grant what they do not have.
//
// Permissions are evaluated as the API server does, from [Access]: the existing
// roles and bindings. Every function is pure.
package scope
