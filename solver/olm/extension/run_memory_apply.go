package extension

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

var (
	errChanged = errors.New("it has changed since it was observed")
	errGone    = errors.New("it does not exist")
	errThere   = errors.New("it already exists")
	errLate    = errors.New("its owner is gone or archived")
)

// apply carries out an action.
func (b *MemBackend) apply(name string, action Action) error {
	switch a := action.(type) {
	case Unpack:
		if b.unpacked == nil {
			b.unpacked = map[string]string{}
		}
		b.unpacked[a.Choice.Name] = a.Choice.Reference
		if b.Bundles[a.Choice.Name] == nil {
			return fmt.Errorf("bundle %s: %w", a.Choice.Name, errGone)
		}
		return nil
	case SetFinalizer, UpdateStatus:
		return b.applyExtension(name, action)
	case CreateRevision, ArchiveRevision, ReportRevision, DeleteRevision:
		return b.applyRevision(name, action)
	case ApplyObject:
		return b.applyObject(name, a)
	case DeleteObject:
		return b.deleteObject(name, a)
	}
	return nil
}

func (b *MemBackend) deleteObject(name string, a DeleteObject) error {
	o, ok := b.objects[a.Ref]
	switch {
	case !ok:
		return nil
	case o.UID != a.UID || o.ResourceVersion != a.ResourceVersion:
		return errChanged
	}
	if a.As != "" {
		account := scope.Account{Namespace: b.extensions[name].Spec.Namespace, Name: a.As}
		rule := scope.PolicyRule{Verbs: []string{"delete"}, APIGroups: []string{a.Ref.Group}, Resources: []string{scope.Plural(a.Ref.Kind)}, ResourceNames: []string{a.Ref.Name}}
		if missing, _ := scope.Missing(b.cluster.Access.Rules(account, a.Ref.Namespace), []scope.PolicyRule{rule}); missing != nil {
			return &fairlead.RefusedError{Code: 403, Reason: "Forbidden", Message: fmt.Sprintf("%s: user %q may not delete it", a.Ref, account)}
		}
	}
	b.drop(a.Ref)
	return nil
}

func (b *MemBackend) applyExtension(name string, action Action) error {
	x, ok := b.extensions[name]
	if !ok {
		return errGone
	}
	version := ""
	switch a := action.(type) {
	case SetFinalizer:
		version = a.ResourceVersion
		x.Finalizers = slices.DeleteFunc(slices.Clone(x.Finalizers), func(f string) bool { return f == Finalizer })
		if a.Present {
			x.Finalizers = append(x.Finalizers, Finalizer)
		}
	case UpdateStatus:
		version, x.Status = a.ResourceVersion, a.Status
	}
	if x.ResourceVersion != version {
		return errChanged
	}
	x.ResourceVersion = b.next()
	b.extensions[name] = x
	return nil
}

func (b *MemBackend) applyRevision(name string, action Action) error {
	if a, ok := action.(CreateRevision); ok {
		is, there := b.revisions[a.Revision.Name]
		x, owned := b.extensions[name]
		switch {
		case there && equal(is.Spec.Phases, a.Revision.Spec.Phases):
			return nil
		case there:
			return errThere
		case !owned || x.DeletionTimestamp != nil || x.UID != a.Revision.OwnerReferences[0].UID:
			return errLate
		}
		if b.revisions == nil {
			b.revisions = map[string]Revision{}
		}
		r := a.Revision
		r.ResourceVersion = b.next()
		b.revisions[r.Name] = r
		return nil
	}
	var key, version string
	change := func(*Revision) {}
	switch a := action.(type) {
	case ArchiveRevision:
		key, version, change = a.Name, a.ResourceVersion, func(r *Revision) { r.Spec.Lifecycle = Archived }
	case ReportRevision:
		key, version, change = a.Name, a.ResourceVersion, func(r *Revision) { r.Status = a.Status }
	case DeleteRevision:
		key, version = a.Name, a.ResourceVersion
	}
	r, ok := b.revisions[key]
	_, remove := action.(DeleteRevision)
	switch {
	case !ok && remove:
		return nil
	case !ok:
		return errGone
	case r.ResourceVersion != version:
		return errChanged
	case remove:
		delete(b.revisions, key)
		return nil
	}
	change(&r)
	r.ResourceVersion = b.next()
	b.revisions[key] = r
	return nil
}

func (b *MemBackend) applyObject(name string, a ApplyObject) error {
	o, there := b.objects[a.Ref]
	r, ok := b.revisions[a.Revision]
	switch {
	case there && o.Digest == a.Digest && o.Controller == a.Revision:
		return nil
	case there && a.ResourceVersion == "":
		return errThere
	case !there && a.ResourceVersion != "", there && o.ResourceVersion != a.ResourceVersion:
		return errChanged
	case !ok || r.Spec.Lifecycle == Archived:
		return errLate
	}
	if err := b.forbidden(name, a, there); err != nil {
		return err
	}
	o.Ref, o.Owner, o.Controller, o.Digest = a.Ref, name, a.Revision, a.Digest
	b.put(o, a.Manifest)
	return nil
}

// forbidden refuses, as an API server does, what the service account in whose name an
// object is written may not do.
func (b *MemBackend) forbidden(name string, a ApplyObject, there bool) error {
	if a.As == "" {
		return nil
	}
	step, err := scope.StepOf(a.Manifest, a.Ref.Namespace, there)
	if err != nil {
		return err
	}
	x := b.extensions[name]
	x.Spec.ServiceAccount.Name = a.As
	if err := b.cluster.judge(&x, step); err != nil {
		return &fairlead.RefusedError{Code: 403, Reason: "Forbidden", Message: err.Error()}
	}
	return nil
}
