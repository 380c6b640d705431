package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/solver/olm/group"
)

var (
	errChanged = errors.New("it has changed since it was observed")
	errGone    = errors.New("it does not exist")
	errThere   = errors.New("it already exists")
	errTaken   = errors.New("it belongs to another namespace, or to nobody known")
)

// apply carries out an action and reports whether it has changed something.
func (b *MemBackend) apply(namespace string, action Action) (changed bool, err error) {
	b.lock()
	defer b.all.Unlock()
	w := b.namespace(namespace)
	if err := b.forbidden(w, action); err != nil {
		return false, err
	}
	switch a := action.(type) {
	case Unpack:
		err = b.unpack(w, a)
	case WritePlan:
		err = b.writePlan(w, a)
	case DeletePlan:
		w.Plans, err = remove(w.Plans, func(p *InstallPlan) (bool, string) { return p.Name == a.Name, p.Revision }, a.Revision)
	case ApplyStep:
		return b.applyStep(w, a)
	case WriteObject:
		return b.writeObject(a)
	case DeleteObject:
		err = b.deleteObject(w, a)
	case UpdateSubscription, CreateSubscription, DeleteSubscription:
		err = b.applySubscription(w, a)
	case SetPhase, Annotate, Deploy, Undeploy, DeleteCSV:
		err = b.applyCSV(w, a)
	default:
		err = b.applyRest(w, a)
	}
	return err == nil, err
}

func (b *MemBackend) applySubscription(w *World, action Action) (err error) {
	at := func(name string) func(*Subscription) (bool, string) {
		return func(s *Subscription) (bool, string) { return s.Name == name, s.Revision }
	}
	switch a := action.(type) {
	case UpdateSubscription:
		return update(w.Subscriptions, at(a.Name), a.Revision, func(s *Subscription) { s.Status, s.Revision = a.Status, b.next() })
	case DeleteSubscription:
		w.Subscriptions, err = remove(w.Subscriptions, at(a.Name), a.Revision)
	case CreateSubscription:
		if w.subscription(a.Subscription.Name) != nil {
			return errThere
		}
		w.Subscriptions = append(w.Subscriptions, Subscription{Subscription: a.Subscription, Mark: Mark{Revision: b.next()}})
	}
	return err
}

func (b *MemBackend) applyCSV(w *World, action Action) (err error) {
	at := func(name string) func(*CSV) (bool, string) {
		return func(c *CSV) (bool, string) { return c.Name == name, c.Revision }
	}
	switch a := action.(type) {
	case SetPhase:
		return update(w.CSVs, at(a.CSV), a.Revision, func(c *CSV) {
			c.Status.Phase, c.Status.Reason, c.Revision = a.Phase, a.Reason, b.next()
		})
	case Annotate:
		return update(w.CSVs, at(a.CSV), a.Revision, func(c *CSV) {
			all := make(map[string]string)
			maps.Copy(all, c.Annotations)
			for _, key := range membership {
				delete(all, key)
			}
			maps.Copy(all, a.Annotations)
			c.Annotations, c.Revision = all, b.next()
		})
	case Deploy:
		return update(w.CSVs, at(a.CSV), a.Revision, func(c *CSV) {
			c.Deployed, c.DeployedDigest, c.Revision = Progressing, a.Digest, b.next()
			b.deploy(w.Namespace, c)
		})
	case Undeploy:
		return update(w.CSVs, at(a.CSV), a.Revision, func(c *CSV) {
			b.undeploy(w.Namespace, c)
			c.Deployed, c.DeployedDigest, c.Revision = "", "", b.next()
		})
	case DeleteCSV:
		gone := w.csv(a.CSV)
		if w.CSVs, err = remove(w.CSVs, at(a.CSV), a.Revision); err == nil {
			b.undeploy(w.Namespace, gone)
			w.Conditions = slices.DeleteFunc(slices.Clone(w.Conditions), func(c OperatorCondition) bool { return c.Name == a.CSV })
		}
	}
	return err
}

// applyRest carries out what is about groups, conditions, catalogs and the
// cluster.
func (b *MemBackend) applyRest(w *World, action Action) error {
	switch a := action.(type) {
	case UpdateGroup:
		return update(w.Groups, func(g *OperatorGroup) (bool, string) { return g.Name == a.Name, g.Revision }, a.Revision, func(g *OperatorGroup) {
			all := make(map[string]string)
			maps.Copy(all, g.Annotations)
			delete(all, group.ProvidedAPIsAnnotation)
			if len(a.Provided) > 0 {
				all[group.ProvidedAPIsAnnotation] = a.Provided.String()
			}
			g.Annotations, g.Status, g.Revision = all, a.Status, b.next()
		})
	case WriteCondition:
		if w.csv(a.Name) == nil {
			return fmt.Errorf("csv %s: %w", a.Name, errGone)
		}
		at := func(c *OperatorCondition) (bool, string) { return c.Name == a.Name, c.Revision }
		if w.condition(a.Name) != nil || a.Revision != "" {
			return update(w.Conditions, at, a.Revision, func(c *OperatorCondition) { c.Status, c.Revision = a.Status, b.next() })
		}
		var c OperatorCondition
		c.Name, c.Namespace, c.Status, c.Revision = a.Name, w.Namespace, a.Status, b.next()
		w.Conditions = append(w.Conditions, c)
	case ServeCatalog:
		return update(b.cluster.Catalogs, catalogAt(w.Namespace, a.Name), a.Revision, func(c *Catalog) {
			c.Image, c.Placement, c.Status.LatestImageRegistryPoll, c.Revision = a.Image, &a.Placement, a.Polled, b.next()
		})
	case UpdateCatalog:
		return update(b.cluster.Catalogs, catalogAt(w.Namespace, a.Name), a.Revision, func(c *Catalog) { c.Status, c.Revision = a.Status, b.next() })
	case ReportUpgradeable:
		w.Upgradeable = &a.Condition
	case IssueCertificate:
		return b.issue(w, a)
	case SetConversion:
		if i := slices.IndexFunc(b.cluster.CRDs, func(c CRD) bool { return c.Name == a.CRD }); i >= 0 && b.cluster.CRDs[i].Home != w.Namespace {
			return errTaken
		}
		return update(b.cluster.CRDs, func(c *CRD) (bool, string) { return c.Name == a.CRD, c.Revision }, a.Revision, func(c *CRD) {
			c.Conversion, c.Revision = a.Digest, b.next()
		})
	}
	return nil
}

func catalogAt(namespace, name string) func(*Catalog) (bool, string) {
	return func(c *Catalog) (bool, string) { return c.Name == name && c.Namespace == namespace, c.Revision }
}

// update changes the element that is meant if it is at a revision.
func update[T any](list []T, meant func(*T) (bool, string), revision string, change func(*T)) error {
	for i := range list {
		switch is, at := meant(&list[i]); {
		case is && at != revision:
			return errChanged
		case is:
			change(&list[i])
			return nil
		}
	}
	return errGone
}

// remove returns the list without the element that is meant, if that is at a
// revision.
func remove[T any](list []T, meant func(*T) (bool, string), revision string) ([]T, error) {
	for i := range list {
		switch is, at := meant(&list[i]); {
		case is && at != revision:
			return list, errChanged
		case is:
			return slices.Concat(list[:i], list[i+1:]), nil
		}
	}
	return list, errGone
}

// put replaces the element that is meant, or adds it.
func put[T any](list []T, next T, meant func(*T) bool) []T {
	for i := range list {
		if meant(&list[i]) {
			list = slices.Clone(list)
			list[i] = next
			return list
		}
	}
	return append(list, next)
}

func (b *MemBackend) writePlan(w *World, a WritePlan) error {
	for i := range w.Plans {
		if w.Plans[i].Spec.Generation > a.Plan.Spec.Generation {
			return fmt.Errorf("plan %s: %s is newer", a.Plan.Name, w.Plans[i].Name)
		}
	}
	for i := range w.Plans {
		if p := &w.Plans[i]; p.Name == a.Plan.Name {
			if p.Revision != a.Plan.Revision {
				return errChanged
			}
			*p = a.Plan
			p.Revision = b.next()
			return nil
		}
	}
	if a.Plan.Revision != "" {
		return errGone
	}
	a.Plan.Revision = b.next()
	w.Plans = append(w.Plans, a.Plan)
	return nil
}

// applyStep writes the object of a step.
func (b *MemBackend) applyStep(w *World, a ApplyStep) (changed bool, err error) {
	for i := range w.Plans {
		if w.Plans[i].Spec.Generation > a.Generation {
			return false, fmt.Errorf("step of plan %s: %s is newer", a.Plan, w.Plans[i].Name)
		}
	}
	if p := w.plan(a.Plan); p == nil || p.Status.Phase == PlanFailed {
		return false, fmt.Errorf("step of plan %s: the plan is gone, or has failed", a.Plan)
	}
	view := *w
	view.CRDs, view.Objects = b.cluster.CRDs, slices.Concat(w.Objects, b.elsewhere(w.Namespace))
	old, there := view.mark(a.Ref)
	switch {
	case there && old.Digest == a.Digest:
		return false, nil
	case old.Revision != a.Revision:
		return false, errChanged
	}
	mark := Mark{Revision: b.next(), Digest: a.Digest}
	switch {
	case a.Ref.Kind == kindCSV && a.Ref.Group == groupOLM:
		if slices.ContainsFunc(b.generated, func(g generated) bool { return g.Ref == a.Ref }) { // a copy
			return false, errThere
		}
		next := CSV{Mark: mark}
		next.ClusterServiceVersion, err = decodeCSV(a.Manifest)
		w.CSVs = put(w.CSVs, next, func(c *CSV) bool { return c.Name == a.Ref.Name })
	case a.Ref.Kind == kindSubscription && a.Ref.Group == groupOLM:
		next := Subscription{Mark: mark}
		err = json.Unmarshal(a.Manifest, &next.Subscription)
		w.Subscriptions = put(w.Subscriptions, next, func(s *Subscription) bool { return s.Name == a.Ref.Name })
	case a.Ref.Kind == kindCRD && a.Ref.Group == groupCRD:
		err = b.writeCRD(w.Namespace, a, mark)
	case a.Ref.Namespace == "" && !slices.ContainsFunc(w.Objects, func(o Object) bool { return o.Ref == a.Ref && o.Owner != "" }) && there:
		return false, errTaken
	default:
		w.Objects = put(w.Objects, Object{Ref: a.Ref, Mark: mark, Owner: a.Resolving}, func(o *Object) bool { return o.Ref == a.Ref })
	}
	return err == nil, err
}

// writeCRD writes a CRD, with the versions in which objects may be stored: those
// that were, and the one in which they are stored from now on.
func (b *MemBackend) writeCRD(namespace string, a ApplyStep, mark Mark) error {
	d, err := decodeDefinition(a.Manifest)
	if err != nil {
		return err
	}
	next := CRD{Definition: *d, Established: true, Home: namespace, Mark: mark}
	same := func(c *CRD) bool { return c.Name == a.Ref.Name }
	if i := slices.IndexFunc(b.cluster.CRDs, func(c CRD) bool { return same(&c) }); i >= 0 {
		next.Status.StoredVersions = slices.Clone(b.cluster.CRDs[i].Status.StoredVersions)
		next.Conversion = b.cluster.CRDs[i].Conversion
	}
	for _, v := range d.Spec.Versions {
		if v.Storage && !slices.Contains(next.Status.StoredVersions, v.Name) {
			next.Status.StoredVersions = append(next.Status.StoredVersions, v.Name)
		}
	}
	b.cluster.CRDs = put(b.cluster.CRDs, next, same)
	return nil
}

// writeObject writes an object that is generated.
func (b *MemBackend) writeObject(a WriteObject) (changed bool, err error) {
	next := generated{Object{Ref: a.Ref, Mark: Mark{b.next(), a.Digest}, Owner: a.Owner}, a.Manifest}
	for i := range b.generated {
		switch g := &b.generated[i]; {
		case g.Ref != a.Ref:
		case g.Digest == a.Digest:
			return false, nil
		case g.Revision != a.Revision:
			return false, errChanged
		case g.Owner != a.Owner:
			return false, errTaken
		default:
			*g = next
			return true, nil
		}
	}
	if a.Revision != "" {
		return false, errGone
	}
	b.generated = append(b.generated, next)
	if a.Ref.Kind == kindAPIService {
		b.cluster.APIServices = append(slices.Clip(b.cluster.APIServices), a.Ref.Name)
	}
	return true, nil
}

// issue makes a certificate up.
func (b *MemBackend) issue(w *World, a IssueCertificate) error {
	next := Certificate{Name: a.Name, Hosts: a.Hosts, NotBefore: a.NotBefore, NotAfter: a.NotAfter, Mark: Mark{Revision: b.next()}}
	next.Authority = fmt.Sprintf("-----BEGIN CERTIFICATE-----\nauthority %s of %s\n-----END CERTIFICATE-----\n%s", next.Revision, a.Name, a.Trusted)
	is := slices.IndexFunc(w.Certificates, func(c Certificate) bool { return c.Name == a.Name })
	switch {
	case is < 0 && a.Revision != "":
		return errGone
	case is >= 0 && w.Certificates[is].Revision != a.Revision:
		return errChanged
	}
	w.Certificates = put(w.Certificates, next, func(c *Certificate) bool { return c.Name == a.Name })
	return nil
}

func (b *MemBackend) deleteObject(w *World, a DeleteObject) (err error) {
	at := func(o *Object) (bool, string) { return o.Ref == a.Ref && o.Owner == a.Owner, o.Revision }
	if slices.ContainsFunc(w.Objects, func(o Object) bool { is, _ := at(&o); return is }) {
		w.Objects, err = remove(w.Objects, at, a.Revision)
		return err
	}
	if a.Ref.Kind == kindSecret {
		w.Certificates, err = remove(w.Certificates, func(c *Certificate) (bool, string) { return c.Name == a.Ref.Name, c.Revision }, a.Revision)
		return err
	}
	if a.Ref.Kind == kindAPIService {
		b.cluster.APIServices = slices.DeleteFunc(slices.Clone(b.cluster.APIServices), func(name string) bool { return name == a.Ref.Name })
	}
	b.generated, err = remove(b.generated, func(g *generated) (bool, string) { return at(&g.Object) }, a.Revision)
	return err
}
