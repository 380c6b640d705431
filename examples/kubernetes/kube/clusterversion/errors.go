package clusterversion

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// told turns an error of a client into one of the engine; nil stays nil. The
// message says what was attempted.
func told(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if keepers := kube.Keepers(err); keepers != nil {
		return cvo.Refuse(cvo.ClassConflict, fmt.Errorf(
			"%s: other field managers have set fields differently: %s; make them give the fields up, list the resource in spec.overrides, or set Options.Force to take the fields over: %w", what, strings.Join(keepers, ", "), err))
	}
	return cvo.Refuse(class(err), fmt.Errorf("%s: %w", what, err))
}

// class classifies an error of a client.
func class(err error) cvo.Class {
	switch {
	case meta.IsNoMatchError(err), unserved(err):
		return cvo.ClassNoMatch
	case apierrors.IsNotFound(err):
		return cvo.ClassNotFound
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return cvo.ClassConflict
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err), untyped(err):
		return cvo.ClassInvalid
	case apierrors.IsUnauthorized(err):
		return cvo.ClassUnauthorized
	case apierrors.IsForbidden(err):
		return cvo.ClassForbidden
	case apierrors.IsServerTimeout(err), apierrors.IsTooManyRequests(err):
		return cvo.ClassOverloaded
	case apierrors.IsTimeout(err), apierrors.IsServiceUnavailable(err), apierrors.IsUnexpectedServerError(err), unreachable(err):
		return cvo.ClassDown
	case apierrors.IsInternalError(err):
		return cvo.ClassInternal
	}
	return cvo.ClassOther
}

// unserved reports whether a NotFound is for a path that the server does not
// serve, such as that of a kind whose definition is new or gone, and not for a
// name that does not exist.
func unserved(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d != nil && len(d.Causes) > 0 && d.Causes[0].Type == metav1.CauseTypeUnexpectedServerResponse
}

// untyped reports whether an error is the server's answer to a patch with
// fields that the kind does not have, which the server calls an internal
// error.
func untyped(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed to create typed patch object")
}

// unreachable reports whether there was no answer.
func unreachable(err error) bool {
	var network net.Error
	var request *url.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.As(err, &network) || errors.As(err, &request)
}
