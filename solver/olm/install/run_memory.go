package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// MemBackend is a Backend in memory: a cluster whose deployments are ready at
// once, unless Health says otherwise. Test the embedding of the engine with it,
// or try out what would become of a namespace. The zero value is an empty
// cluster. Its methods may be called from several goroutines.
//
// The content of a bundle is what its olm.bundle.object properties hold. A
// bundle without gets one made up, of a CSV with the APIs of its properties and
// all install modes, and a CRD for each that it provides.
type MemBackend struct {
	// Health says how the deployments of a CSV stand, and why. It is asked at
	// each observation. Nil means that they are ready.
	Health func(namespace, csv string) (Health, string)

	// Changed is told of each action that has changed something, in order. It
	// must not call the backend's methods other than World.
	Changed func(namespace string, action Action)

	mu         sync.Mutex
	namespaces map[string]*World
	crds       []CRD // of the cluster
	revision   int
}

// World returns what is in a namespace. The caller owns it.
func (b *MemBackend) World(namespace string) *World {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshot(namespace)
}

// Edit changes a namespace as users and other controllers would: f may do what
// it likes to the world it is given. What it has changed gets a new revision.
// An error of f is returned, and then nothing has changed.
func (b *MemBackend) Edit(namespace string, f func(*World) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.snapshot(namespace)
	text, err := json.Marshal(old)
	if err != nil {
		return err
	}
	next := new(World)
	if err := json.Unmarshal(text, next); err != nil {
		return err
	}
	if err := f(next); err != nil {
		return err
	}
	next.Namespace = namespace
	for i := range next.Groups {
		g := &next.Groups[i]
		if g.Namespace == "" {
			g.Namespace = namespace
		}
		if len(g.Status.Namespaces) == 0 {
			if g.Status.Namespaces, err = g.Targets(nil); err != nil {
				return err
			}
		}
	}
	for i := range next.Subscriptions {
		s := &next.Subscriptions[i]
		s.Namespace = namespace
		b.touch(&s.Revision, s, old.subscription(s.Name))
	}
	for i := range next.CSVs {
		c := &next.CSVs[i]
		c.Namespace = namespace
		b.touch(&c.Revision, c, old.csv(c.Name))
	}
	for i := range next.Plans {
		p := &next.Plans[i]
		p.Namespace = namespace
		b.touch(&p.Revision, p, old.plan(p.Name))
	}
	b.crds = next.CRDs
	b.namespaces[namespace] = next
	return nil
}

// touch gives a changed object a new revision.
func (b *MemBackend) touch(revision *string, changed, old any) {
	x, _ := json.Marshal(changed)
	y, _ := json.Marshal(old)
	if !bytes.Equal(x, y) {
		*revision = b.next()
	}
}

func (b *MemBackend) next() string {
	b.revision++
	return strconv.Itoa(b.revision)
}

func (b *MemBackend) namespace(name string) *World {
	w := b.namespaces[name]
	if w == nil {
		if b.namespaces == nil {
			b.namespaces = make(map[string]*World)
		}
		w = &World{Namespace: name}
		b.namespaces[name] = w
	}
	return w
}

// snapshot copies the lists. What they hold is replaced, and never changed.
func (b *MemBackend) snapshot(name string) *World {
	w := *b.namespace(name)
	w.Groups = slices.Clone(w.Groups)
	w.Subscriptions = slices.Clone(w.Subscriptions)
	w.CSVs = slices.Clone(w.CSVs)
	w.Plans = slices.Clone(w.Plans)
	w.Conditions = slices.Clone(w.Conditions)
	w.APIServices = slices.Clone(w.APIServices)
	w.Objects = slices.Clone(w.Objects)
	w.Contents = slices.Clone(w.Contents)
	w.CRDs = slices.Clone(b.crds)
	for i := range w.CSVs {
		c := &w.CSVs[i]
		if c.Deployed == "" {
			continue
		}
		if c.Deployed, c.Detail = Ready, ""; b.Health != nil {
			c.Deployed, c.Detail = b.Health(name, c.Name)
		}
	}
	return &w
}

// Observe implements Backend.
func (b *MemBackend) Observe(ctx context.Context, namespace string) (*World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b.World(namespace), nil
}

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, namespace string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	changed, err := b.apply(namespace, action)
	if changed && b.Changed != nil {
		b.Changed(namespace, action)
	}
	return err
}

// errChanged says that an object is not at the revision of an action.
var errChanged = errors.New("it has changed since it was observed")

func (b *MemBackend) apply(namespace string, action Action) (changed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.namespace(namespace)
	switch a := action.(type) {
	case Unpack:
		err = b.unpack(w, a)
	case WritePlan:
		err = b.writePlan(w, a)
	case DeletePlan:
		w.Plans, err = remove(w.Plans, func(p *InstallPlan) (bool, string) { return p.Name == a.Name, p.Revision }, a.Revision)
	case UpdateSubscription:
		err = update(w.Subscriptions, func(s *Subscription) (bool, string) { return s.Name == a.Name, s.Revision }, a.Revision, func(s *Subscription) {
			s.Status, s.Revision = a.Status, b.next()
		})
	case ApplyStep:
		return b.applyStep(w, a)
	case SetPhase:
		err = update(w.CSVs, csvAt(a.CSV), a.Revision, func(c *CSV) {
			c.Status.Phase, c.Status.Reason, c.Revision = a.Phase, a.Reason, b.next()
		})
	case Deploy:
		err = update(w.CSVs, csvAt(a.CSV), a.Revision, func(c *CSV) { c.Deployed, c.Revision = Progressing, b.next() })
	case DeleteCSV:
		if w.CSVs, err = remove(w.CSVs, csvAt(a.CSV), a.Revision); err == nil {
			w.Objects = slices.DeleteFunc(slices.Clone(w.Objects), func(o Object) bool { return o.Owner == a.CSV })
		}
	}
	return err == nil, err
}

// csvAt finds a CSV, and tells its revision.
func csvAt(name string) func(*CSV) (bool, string) {
	return func(c *CSV) (bool, string) { return c.Name == name, c.Revision }
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
	return errors.New("it does not exist")
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
	return list, errors.New("it does not exist")
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
		return errors.New("it does not exist")
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
	view := *w
	view.CRDs = b.crds
	switch m, ok := view.mark(a.Ref); {
	case ok && m.Digest == a.Digest:
		return false, nil
	case m.Revision != a.Revision:
		return false, errChanged
	}
	mark := Mark{Revision: b.next(), Digest: a.Digest}
	switch {
	case a.Ref.Kind == kindCSV && a.Ref.Group == groupOLM:
		next := CSV{Mark: mark}
		var held struct {
			Spec struct{ InstallModes group.InstallModes }
		}
		err = errors.Join(json.Unmarshal(a.Manifest, &next.ClusterServiceVersion), json.Unmarshal(a.Manifest, &held))
		next.InstallModes = held.Spec.InstallModes
		w.CSVs = put(w.CSVs, next, func(c *CSV) bool { return c.Name == a.Ref.Name })
	case a.Ref.Kind == kindSubscription && a.Ref.Group == groupOLM:
		next := Subscription{Mark: mark}
		err = json.Unmarshal(a.Manifest, &next.Subscription)
		w.Subscriptions = put(w.Subscriptions, next, func(s *Subscription) bool { return s.Name == a.Ref.Name })
	case a.Ref.Kind == kindCRD && a.Ref.Group == groupCRD:
		var next CRD
		next, err = decodeCRD(a.Manifest)
		next.Mark = mark
		b.crds = put(b.crds, next, func(c *CRD) bool { return c.Name == a.Ref.Name })
	default:
		w.Objects = put(w.Objects, Object{Ref: a.Ref, Mark: mark, Owner: a.Resolving}, func(o *Object) bool { return o.Ref == a.Ref })
	}
	return err == nil, err
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

func decodeCRD(manifest []byte) (CRD, error) {
	var held struct {
		Metadata olm.ObjectMeta
		Spec     struct {
			Versions []struct {
				Name   string
				Served bool
			}
		}
	}
	err := json.Unmarshal(manifest, &held)
	crd := CRD{Name: held.Metadata.Name, Established: true}
	for _, v := range held.Spec.Versions {
		if v.Served {
			crd.Served = append(crd.Served, v.Name)
		}
	}
	return crd, err
}

// unpack puts the content of a bundle into the world.
func (b *MemBackend) unpack(w *World, a Unpack) error {
	content := Content{Source: a.Candidate.Source, Bundle: a.Candidate.Name}
	manifests, err := Inline(a.Candidate.Bundle)
	if err == nil && len(manifests) == 0 {
		manifests, err = madeUp(a.Candidate.Bundle, w.Namespace)
	}
	content.Manifests = manifests
	if err != nil {
		content.Error = err.Error()
	}
	w.Contents = put(w.Contents, content, func(c *Content) bool {
		return c.Source == content.Source && c.Bundle == content.Bundle
	})
	return nil
}

// Inline returns the objects that the olm.bundle.object properties of a bundle
// hold, in their order. Bundles that are in an image only have none. It reads
// the bundle's file.
func Inline(b *catalog.Bundle) ([]json.RawMessage, error) {
	if b == nil {
		return nil, errors.New("there is no bundle to take it from")
	}
	props, err := b.Properties()
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for _, p := range props {
		if p.Type != "olm.bundle.object" {
			continue
		}
		var held struct{ Data []byte }
		if err := json.Unmarshal(p.Value, &held); err != nil {
			return nil, fmt.Errorf("property olm.bundle.object: %w", err)
		}
		all = append(all, held.Data)
	}
	return all, nil
}

type gvk struct{ Group, Version, Kind string }

// crdName makes up the name of a CRD.
func (g gvk) crdName() string { return strings.ToLower(g.Kind) + "s." + g.Group }

// madeUp is a content for a bundle that has none in its catalog.
func madeUp(b *catalog.Bundle, namespace string) ([]json.RawMessage, error) {
	csv, err := olm.InstalledFrom(b, namespace)
	if err != nil {
		return nil, err
	}
	props, err := b.Facts()
	if err != nil {
		return nil, err
	}
	served := make(map[string][]string)
	var names []string
	owns := &csv.Spec.CustomResourceDefinitions
	for _, p := range props {
		var g gvk
		if p.Type != "olm.gvk" && p.Type != "olm.gvk.required" {
			continue
		}
		if err := json.Unmarshal(p.Value, &g); err != nil {
			return nil, fmt.Errorf("property %s: %w", p.Type, err)
		}
		d := olm.CRDDescription{Name: g.crdName(), Version: g.Version, Kind: g.Kind}
		if p.Type == "olm.gvk.required" {
			owns.Required = append(owns.Required, d)
			continue
		}
		owns.Owned = append(owns.Owned, d)
		if served[d.Name] == nil {
			names = append(names, d.Name)
		}
		served[d.Name] = append(served[d.Name], d.Version)
	}
	var all []any
	all = append(all, map[string]any{
		"apiVersion": groupOLM + "/v1alpha1", "kind": kindCSV, "metadata": csv.ObjectMeta,
		"spec": struct {
			olm.CSVSpec
			InstallModes group.InstallModes `json:"installModes"`
		}{csv.Spec, group.InstallModes{
			{Type: group.ModeOwnNamespace, Supported: true}, {Type: group.ModeSingleNamespace, Supported: true},
			{Type: group.ModeMultiNamespace, Supported: true}, {Type: group.ModeAllNamespaces, Supported: true},
		}},
	})
	for _, name := range names {
		var versions []any
		for _, v := range served[name] {
			versions = append(versions, map[string]any{"name": v, "served": true, "storage": len(versions) == 0})
		}
		_, group, _ := strings.Cut(name, ".")
		all = append(all, map[string]any{
			"apiVersion": groupCRD + "/v1", "kind": kindCRD, "metadata": map[string]any{"name": name},
			"spec": map[string]any{"group": group, "versions": versions},
		})
	}
	var manifests []json.RawMessage
	for _, o := range all {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, text)
	}
	return manifests, nil
}
