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

// told makes of what a client returns an error of the engine; nil stays nil.
// The message says what was to be done.
func told(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if keepers := kube.Keepers(err); keepers != nil {
		return cvo.Refuse(cvo.ClassConflict, fmt.Errorf(
			"%s: other field managers have set fields differently: %s; they must give the fields up, or the resource be kept in spec.overrides, or Options.Force take them: %w", what, strings.Join(keepers, ", "), err))
	}
	return cvo.Refuse(class(err), fmt.Errorf("%s: %w", what, err))
}

// class finds out what kind of trouble an error of a client is.
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

// unserved tells the answer to a path that the server does not serve, as that of
// a kind whose definition is new or gone, from that to a name which is not there.
func unserved(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d != nil && len(d.Causes) > 0 && d.Causes[0].Type == metav1.CauseTypeUnexpectedServerResponse
}

// untyped tells the server's answer to a patch with fields that the kind does
// not have, which it calls an internal error.
func untyped(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed to create typed patch object")
}

// unreachable reports whether there was no answer.
func unreachable(err error) bool {
	var network net.Error
	var request *url.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.As(err, &network) || errors.As(err, &request)
}
