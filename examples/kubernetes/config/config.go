// Package config contains the manifests of the operator: its namespace,
// service account and Deployment, the permissions of each controller, and the
// definitions of the custom resources.
package config

import "embed"

// Files contains the manifests: *.yaml, and crd/*.yaml for the custom
// resources.
//
//go:embed *.yaml crd/*.yaml
var Files embed.FS
