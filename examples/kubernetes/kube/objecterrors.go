package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// ChangedError reports that an action came too late: its object has changed
// since the decision. Nothing was written; the next pass decides again.
type ChangedError struct {
	Object  Ref    // what was to be changed
	Problem string // what happened to it
}

// Error names the object and what happened to it.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: %s; nothing was written; the next pass decides again", e.Object, e.Problem)
}

// TakenError reports that another manager owns fields of an object that were
// to be written. Nothing was written.
type TakenError struct {
	Object Ref      // what was to be changed
	Fields []string // the fields, with their owners, as reported by the server
}

// Error names the fields and says what to do.
func (e *TakenError) Error() string {
	return fmt.Sprintf("%s: other managers own fields of it: %s; make them give these up, or delete the object so that it is created again",
		e.Object, strings.Join(e.Fields, "; "))
}

// UnclearError reports that no answer shows whether a request was carried
// out. The next pass finds out.
type UnclearError struct {
	Object Ref   // what was to be changed
	Err    error // what happened
}

// Error states what happened.
func (e *UnclearError) Error() string {
	return fmt.Sprintf("%s: it is not known whether the request was carried out; the next pass finds out: %v", e.Object, e.Err)
}

// Unwrap returns the cause.
func (e *UnclearError) Unwrap() error { return e.Err }

// ObjectError reports that an object cannot be decoded as the kind it claims to
// be.
type ObjectError struct {
	Object Ref   // the object
	Err    error // what is wrong with it
}

// Error names the object and what is wrong.
func (e *ObjectError) Error() string {
	return fmt.Sprintf("%s cannot be read: %v; correct it, or delete it", e.Object, e.Err)
}

// Unwrap returns the cause.
func (e *ObjectError) Unwrap() error { return e.Err }

// Outcome turns the error of a failed write into one of the errors above; nil
// stays nil.
func Outcome(object Ref, err error) error {
	keepers := Keepers(err)
	switch {
	case err == nil:
		return nil
	case keepers != nil:
		return &TakenError{Object: object, Fields: keepers}
	case apierrors.IsAlreadyExists(err):
		return &ChangedError{object, "it has been created since"}
	case apierrors.IsConflict(err):
		return &ChangedError{object, "it has changed since it was observed"}
	case unclear(err):
		return &UnclearError{object, err}
	case apierrors.IsNotFound(err) && !NamespaceMissing(err):
		return &ChangedError{object, "it is gone"}
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: the controller is not allowed to do this: %w; grant it the permission (the files config/rbac-*.yaml list what each controller needs)", object, err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("%s: the cluster does not have this kind: %w; install its definition", object, err)
	}
	return fmt.Errorf("%s: %w", object, err)
}

// unclear reports whether a write with that error may have been carried out.
func unclear(err error) bool {
	var timeout net.Error
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.As(err, &timeout) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err) || utilnet.IsProbableEOF(err)
}
