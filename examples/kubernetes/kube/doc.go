// Package kube connects the engines of fairlead to a Kubernetes API server.
package kube
