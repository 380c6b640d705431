package snapshot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// kept is the JSON form of a Snapshot.
type kept struct {
	Clock    Clock                      `json:"clock"`
	Identity Identity                   `json:"identity,omitzero"`
	Lists    map[string]json.RawMessage `json:"lists"`            // by kind, those that know anything
	Others   map[string]json.RawMessage `json:"others,omitempty"` // likewise
	Files    int                        `json:"files,omitempty"`
}

// keptList is a List. Refs are those of its items, where they say more than the item and Of.
type keptList[T any] struct {
	Scope Scope     `json:"scope"`
	Of    keptRef   `json:"of"` // what all refs have in common
	Items []T       `json:"items,omitempty"`
	Refs  []keptRef `json:"refs,omitempty"` // for each item; none if no ref says more
}

// keptRef is a Ref without where it was read.
type keptRef struct {
	APIVersion string   `json:"apiVersion,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	Namespace  string   `json:"namespace,omitempty"`
	Name       string   `json:"name,omitempty"`
	Odd        []string `json:"odd,omitempty"`
}

// keeper is a List of any type, as it is written and read as JSON.
type keeper interface {
	keptAs() ([]byte, error)
	readKept(text []byte) error
}

// MarshalJSON writes what is known, without warnings and without where each object was read. A
// snapshot that is read from it answers as this one. Equal snapshots give equal bytes.
func (s *Snapshot) MarshalJSON() ([]byte, error) {
	k := kept{Clock: s.Clock, Identity: s.Identity, Lists: map[string]json.RawMessage{}, Files: s.Files}
	lists := s.keepers()
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if err := keep(k.Lists, name, lists[name]); err != nil {
			return nil, err
		}
	}
	k.Others = map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(s.Others)) {
		if err := keep(k.Others, name, s.Others[name]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(k)
}

// keep adds a list that knows anything.
func keep(to map[string]json.RawMessage, name string, l keeper) error {
	text, err := l.keptAs()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if text != nil {
		to[name] = text
	}
	return nil
}

// UnmarshalJSON reads what MarshalJSON wrote. The error says which kind is not as it was written.
func (s *Snapshot) UnmarshalJSON(text []byte) error {
	k := kept{}
	if err := json.Unmarshal(text, &k); err != nil {
		return err
	}
	*s = Snapshot{Clock: k.Clock, Identity: k.Identity, Files: k.Files}
	lists := s.keepers()
	for _, name := range slices.Sorted(maps.Keys(k.Lists)) {
		l, ok := lists[name]
		if !ok {
			return fmt.Errorf("snapshot: kind %s has no list of its own", name)
		}
		if err := l.readKept(k.Lists[name]); err != nil {
			return fmt.Errorf("snapshot: %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Others)) {
		l := &List[Object]{}
		if err := l.readKept(k.Others[name]); err != nil {
			return fmt.Errorf("snapshot: %s: %w", name, err)
		}
		if s.Others == nil {
			s.Others = map[string]*List[Object]{}
		}
		s.Others[name] = l
	}
	s.build()
	return nil
}

// Changed returns a snapshot with other lists: edit replaces lists of a copy, and changes none in place.
// Refs of new items are made from their names.
func (s *Snapshot) Changed(edit func(*Snapshot)) *Snapshot {
	c := *s
	c.index = indexes{}
	edit(&c)
	c.build()
	return &c
}

// SetItems returns a list of the same scope and kind with other items, sorted.
func (l *List[T]) SetItems(items []T) List[T] {
	out := List[T]{Items: slices.Clone(items), Scope: l.Scope, Refs: make([]Ref, len(items))}
	of := Ref{}
	if len(l.Refs) > 0 {
		of = Ref{APIVersion: l.Refs[0].APIVersion, Kind: l.Refs[0].Kind}
	}
	for i := range out.Items {
		r := of
		if m := metaOf(&out.Items[i]); m != nil {
			r.Namespace, r.Name = m.Namespace, m.Name
			if at := l.Index(m.Namespace, m.Name); at >= 0 {
				r = l.Refs[at]
			}
		}
		out.Refs[i] = r
	}
	out.sort()
	return out
}

// keepers are the lists of a snapshot by kind.
func (s *Snapshot) keepers() map[string]keeper {
	all := map[string]keeper{"Alert": &s.Alerts, "EtcdMember": &s.Etcd}
	for i := range kinds {
		all[kinds[i].name] = kinds[i].list(s).(keeper)
	}
	return all
}

// keptAs is nil of a list that knows nothing.
func (l *List[T]) keptAs() ([]byte, error) {
	if len(l.Items) == 0 && !l.Scope.Looked() && !l.Scope.Assumed && len(l.Scope.Gaps) == 0 {
		return nil, nil
	}
	k := keptList[T]{Scope: l.Scope, Items: l.Items}
	if len(l.Refs) > 0 {
		k.Of = keptRef{APIVersion: l.Refs[0].APIVersion, Kind: l.Refs[0].Kind}
	}
	refs, more := make([]keptRef, len(l.Refs)), false
	for i := range l.Refs {
		r := &l.Refs[i]
		x := keptRef{r.APIVersion, r.Kind, r.Namespace, r.Name, r.Odd}
		if m := metaOf(&l.Items[i]); m != nil && m.Namespace == r.Namespace && m.Name == r.Name {
			x.Namespace, x.Name = "", ""
		}
		if x.APIVersion == k.Of.APIVersion && x.Kind == k.Of.Kind {
			x.APIVersion, x.Kind = "", ""
		}
		refs[i] = x
		more = more || x.APIVersion+x.Kind+x.Namespace+x.Name != "" || x.Odd != nil
	}
	if more {
		k.Refs = refs
	}
	return json.Marshal(k)
}

func (l *List[T]) readKept(text []byte) error {
	k := keptList[T]{}
	if err := json.Unmarshal(text, &k); err != nil {
		return err
	}
	if k.Refs != nil && len(k.Refs) != len(k.Items) {
		return fmt.Errorf("%d refs of %d items", len(k.Refs), len(k.Items))
	}
	*l = List[T]{Items: k.Items, Scope: k.Scope, Refs: make([]Ref, len(k.Items))}
	for i := range k.Items {
		r := Ref{APIVersion: k.Of.APIVersion, Kind: k.Of.Kind}
		if m := metaOf(&l.Items[i]); m != nil {
			r.Namespace, r.Name = m.Namespace, m.Name
		}
		if k.Refs != nil {
			x := &k.Refs[i]
			r.Odd = x.Odd
			if x.APIVersion+x.Kind != "" {
				r.APIVersion, r.Kind = x.APIVersion, x.Kind
			}
			if x.Namespace+x.Name != "" {
				r.Namespace, r.Name = x.Namespace, x.Name
			}
		}
		l.Refs[i] = r
	}
	return nil
}
