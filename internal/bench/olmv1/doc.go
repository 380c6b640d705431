// Package olmv1 runs operator-controller's own tests of its resolver with that of
// fairlead in its place, through kube/olmv1 of the Kubernetes module. It needs a
// checkout of github.com/operator-framework/operator-controller at df2c201d, in the
// directory that FAIRLEAD_OPERATOR_CONTROLLER names:
//
//	FAIRLEAD_OPERATOR_CONTROLLER=DIR go test ./olmv1
//
// Nothing in the checkout is changed: their go.mod is completed in a copy, and their
// file catalog.go, in which the method Resolve gets another name, and ours are
// overlaid. operator-controller is no requirement of this module, nor of the
// Kubernetes module, to which it would bring Helm and image libraries; its packages
// are internal besides.
package olmv1
