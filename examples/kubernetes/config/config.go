// Package config holds the manifests of the operator: its namespace, service
// account and Deployment, what each controller may do, and the definitions of
// the custom resources.
package config

import "embed"

// Files are the manifests: *.yaml, and crd/*.yaml once a controller has custom
// resources.
//
//go:embed *.yaml
var Files embed.FS
