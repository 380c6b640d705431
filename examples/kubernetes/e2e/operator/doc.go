// Package operator builds cmd/operator and runs it against a cluster of package
// cluster: as the service account from config/operator.yaml, with the
// permissions in the manifests there and no others.
package operator
