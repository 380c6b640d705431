// Package olmv1 runs operator-controller's own tests of its resolver with fairlead's
// resolver instead, through kube/olmv1 of the Kubernetes module. It needs a
// checkout of github.com/operator-framework/operator-controller at df2c201d, in the
// directory that FAIRLEAD_OPERATOR_CONTROLLER names:
//
//	FAIRLEAD_OPERATOR_CONTROLLER=DIR go test ./olmv1
//
// Nothing in the checkout is changed: their go.mod is completed in a copy, and an
// overlay adds our files and a copy of their catalog.go in which the method Resolve
// has another name. Neither this module nor the Kubernetes module requires
// operator-controller, which would add Helm and image libraries; besides, its
// packages are internal.
package olmv1
