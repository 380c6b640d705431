// Package operator builds cmd/operator and runs it against a cluster of package
// cluster: as the service account that config/operator.yaml makes, with the
// rights of the manifests there and no others.
package operator
