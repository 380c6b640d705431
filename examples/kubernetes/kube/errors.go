package kube

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsAnother reports whether the server has refused a write because the object
// has a different UID or resourceVersion than the write names. To a patch that
// names another UID, the server answers as if the patch tried to change the
// UID.
func IsAnother(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, c := range status.Status().Details.Causes {
		if c.Field == "metadata.uid" {
			return true
		}
	}
	return false
}

// Keepers returns the fields on which a server-side apply conflicts, each with
// the manager that owns it, in the server's words; nil for any other error.
func Keepers(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []string
	for _, c := range status.Status().Details.Causes {
		if c.Type == metav1.CauseTypeFieldManagerConflict {
			out = append(out, c.Field+" ("+c.Message+")")
		}
	}
	return out
}

// NamespaceMissing reports whether a NotFound is that of the namespace in which
// an object was to be created, and not that of an object.
func NamespaceMissing(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}
