// Package config holds the manifests of the operator: its namespace, service
// account and Deployment, what each controller may do, and the definitions of
// the custom resources.
package config

import "embed"

// Files are the manifests: *.yaml, and crd/*.yaml for the custom resources.
//
//go:embed *.yaml crd/*.yaml
var Files embed.FS
