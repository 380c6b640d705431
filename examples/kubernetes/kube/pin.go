//go:build pin

// Names the libraries that the parts of this module are built on until each imports its own.

package kube

import (
	_ "github.com/ProtonMail/go-crypto/openpgp"
	_ "github.com/fairlead/fairlead"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/prometheus/client_golang/api/prometheus/v1"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/client-go/kubernetes"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/client/fake"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
)
