package kube

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	storeLabel  = "fairlead.io/store" // on each ConfigMap: the store it belongs to
	writeNote   = "fairlead.io/write" // on each ConfigMap: differs with every write
	keyField    = "key"               // in data: the key, as it was given
	valueField  = "value"             // in binaryData: the value
	listedAtOne = 250                 // ConfigMaps per page of a list
)

// Store is a [fairlead.Store] and [fairlead.Watcher] on ConfigMaps: one for
// each key, all in one namespace, with a label that names the store. Several
// stores may share a namespace.
//
//  1. The Revision of a record is the ConfigMap's resourceVersion. Each write
//     changes an annotation of the ConfigMap, because the server assigns no
//     new resourceVersion to a write that changes nothing.
//  2. A ConfigMap is named after its key, as far as names allow, and a hash of
//     it. A manual edit makes a new revision, like any other write. A ConfigMap
//     with the label but without a key is an error that names it.
//  3. List reads all keys of the store, whatever the prefix, and keeps them in
//     memory: stores of engines are small. Watch reads them once, and again when
//     the server no longer has the history needed to continue.
//
// It needs the verbs get, list, watch, create, update and delete on configmaps
// of its namespace. Its methods may be called from several goroutines. They
// retry nothing: after an error that leaves open whether a write took place,
// the caller finds out with a Get.
type Store struct {
	client    client.WithWatch
	namespace string
	name      string
}

// NewStore returns the store with that name in the namespace. The client must
// read from the server and not from a cache, like those of
// [client.NewWithWatch] and unlike that of a manager. The name must be a label
// value.
func NewStore(c client.WithWatch, namespace, name string) (*Store, error) {
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return nil, fmt.Errorf("kube.NewStore: namespace %q: %s", namespace, strings.Join(problems, "; "))
	}
	if problems := validation.IsValidLabelValue(name); len(problems) > 0 || name == "" {
		return nil, fmt.Errorf("kube.NewStore: name %q of the store: must be a label value and not empty; it has up to 63 characters out of a-z, A-Z, 0-9, '-', '_' and '.'", name)
	}
	return &Store{client: c, namespace: namespace, name: name}, nil
}

// Get returns the record, or [fairlead.ErrNotFound].
func (s *Store) Get(ctx context.Context, key string) (fairlead.Record, error) {
	if err := ctx.Err(); err != nil {
		return fairlead.Record{}, err
	}
	if fairlead.CheckLimits(key, nil) != nil {
		return fairlead.Record{}, s.failure("get", key, fairlead.ErrNotFound)
	}
	var m corev1.ConfigMap
	err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: s.configMap(key)}, &m)
	if apierrors.IsNotFound(err) {
		err = fairlead.ErrNotFound
	}
	if err != nil {
		return fairlead.Record{}, s.failure("get", key, err)
	}
	return s.record(&m)
}

// Put writes the value if the key is at prev, and returns the new revision.
func (s *Store) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (fairlead.Revision, error) {
	if err := fairlead.CheckLimits(key, value); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	m := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       s.namespace,
			Name:            s.configMap(key),
			ResourceVersion: string(prev),
			Labels:          map[string]string{storeLabel: s.name},
			Annotations:     map[string]string{writeNote: rand.Text()},
		},
		Data:       map[string]string{keyField: key},
		BinaryData: map[string][]byte{valueField: slices.Clone(value)},
	}
	var err error
	if prev == "" {
		err = s.client.Create(ctx, m)
	} else {
		err = s.client.Update(ctx, m)
	}
	if err != nil {
		return "", s.failure("put", key, lost(err))
	}
	return fairlead.Revision(m.ResourceVersion), nil
}

// Delete removes the key if it is at prev.
func (s *Store) Delete(ctx context.Context, key string, prev fairlead.Revision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if fairlead.CheckLimits(key, nil) != nil {
		return s.failure("delete", key, fairlead.ErrNotFound)
	}
	if prev == "" { // for the server, no precondition at all
		if _, err := s.Get(ctx, key); err != nil {
			return err
		}
		return s.failure("delete", key, fairlead.ErrConflict)
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.configMap(key)}}
	at := string(prev)
	err := s.client.Delete(ctx, m, client.Preconditions{ResourceVersion: &at})
	switch {
	case apierrors.IsNotFound(err):
		err = fairlead.ErrNotFound
	case apierrors.IsConflict(err):
		err = fairlead.ErrConflict
	}
	if err != nil {
		return s.failure("delete", key, err)
	}
	return nil
}

// List yields the records whose key begins with prefix, in key order.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	return func(yield func(fairlead.Record, error) bool) {
		found, _, err := s.all(ctx, prefix)
		if err != nil {
			yield(fairlead.Record{}, err)
			return
		}
		for _, r := range found {
			if !yield(r, nil) {
				return
			}
			if err := ctx.Err(); err != nil {
				yield(fairlead.Record{}, err)
				return
			}
		}
	}
}

// all returns the records whose key begins with prefix, in key order, and the
// resourceVersion to watch from.
func (s *Store) all(ctx context.Context, prefix string) (found []fairlead.Record, at string, err error) {
	byKey := map[string]fairlead.Record{}
	opts := &client.ListOptions{Namespace: s.namespace, Limit: listedAtOne}
	client.MatchingLabels{storeLabel: s.name}.ApplyToList(opts)
	for {
		var page corev1.ConfigMapList
		err := s.client.List(ctx, &page, opts)
		if apierrors.IsResourceExpired(err) && opts.Limit > 0 { // too slow for pages: get all at once
			clear(byKey)
			opts.Continue, opts.Limit = "", 0
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("store %s: list %q: %w", s, prefix, err)
		}
		for i := range page.Items {
			r, err := s.record(&page.Items[i])
			if err != nil {
				return nil, "", err
			}
			if strings.HasPrefix(r.Key, prefix) {
				byKey[r.Key] = r
			}
		}
		if page.Continue == "" {
			at = page.ResourceVersion
			break
		}
		opts.Continue = page.Continue
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		found = append(found, byKey[key])
	}
	return found, at, nil
}

// record reads one ConfigMap.
func (s *Store) record(m *corev1.ConfigMap) (fairlead.Record, error) {
	key, ok := m.Data[keyField]
	if !ok || s.configMap(key) != m.Name {
		return fairlead.Record{}, fmt.Errorf("store %s: ConfigMap %s/%s: its data.%s is %q, which is not the key it is named after: something else wrote it; delete it, or remove the label %s from it",
			s, m.Namespace, m.Name, keyField, key, storeLabel)
	}
	value := m.BinaryData[valueField]
	if value == nil {
		value = []byte{}
	}
	return fairlead.Record{Key: key, Value: value, Revision: fairlead.Revision(m.ResourceVersion)}, nil
}

// configMap returns the name of the ConfigMap of a key: the key as far as
// names allow, for readability, and a hash of store and key, which makes it
// unique.
func (s *Store) configMap(key string) string {
	const most, hashed = 180, 12
	var b strings.Builder
	for _, c := range []byte(s.name + "-" + key) {
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		default:
			c = '-'
		}
		if b.Len() < most {
			b.WriteByte(c)
		}
	}
	sum := sha256.Sum256([]byte(s.name + "/" + key))
	return strings.Trim(b.String(), "-") + "-" + hex.EncodeToString(sum[:hashed])
}

// String returns the namespace and the name of the store.
func (s *Store) String() string { return s.namespace + "/" + s.name }

// lost turns the server's errors for a key that is not at the given revision
// into fairlead.ErrConflict.
func lost(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && !NamespaceMissing(err) {
		return fairlead.ErrConflict
	}
	return err
}

func (s *Store) failure(verb, key string, err error) error {
	return fmt.Errorf("store %s: %s key %q: %w", s, verb, key, err)
}
