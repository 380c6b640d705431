package kube

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Watch yields every record whose key begins with prefix, in key order, then
// one record for each change, until ctx ends. When the server ends a watch, as
// it does every few minutes, Watch continues where that ended. A server error,
// including an unreachable server, ends the sequence.
func (s *Store) Watch(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	return func(yield func(fairlead.Record, error) bool) {
		w := storeWatch{store: s, prefix: prefix, known: map[string]fairlead.Revision{}, yield: yield}
		for {
			err := w.list(ctx)
			for err == nil {
				err = w.follow(ctx)
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			switch {
			case err == errLeft:
				return
			case apierrors.IsResourceExpired(err), apierrors.IsGone(err): // list again
				if err = pause(ctx); err == nil {
					continue
				}
			}
			yield(fairlead.Record{}, fmt.Errorf("store %s: watch %q: %w", s, prefix, err))
			return
		}
	}
}

// storeWatch is one range over Watch.
type storeWatch struct {
	store  *Store
	prefix string
	at     string                       // the resourceVersion to continue from
	known  map[string]fairlead.Revision // the yielded revisions, by key
	yield  func(fairlead.Record, error) bool
}

// left is the error for a caller that has left the loop.
type left struct{}

func (left) Error() string { return "the caller has left the loop" }

var errLeft error = left{}

// list yields what exists and is not known, and what is known and gone.
func (w *storeWatch) list(ctx context.Context) error {
	found, at, err := w.store.all(ctx, w.prefix)
	if err != nil {
		return err
	}
	w.at = at
	gone := maps.Clone(w.known)
	for _, r := range found {
		delete(gone, r.Key)
		if err := w.tell(r); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(gone)) {
		if err := w.tell(fairlead.Record{Key: key}); err != nil {
			return err
		}
	}
	return nil
}

// tell yields a record unless the caller already has it.
func (w *storeWatch) tell(r fairlead.Record) error {
	if w.known[r.Key] == r.Revision {
		return nil
	}
	if r.Revision == "" {
		delete(w.known, r.Key)
	} else {
		w.known[r.Key] = r.Revision
	}
	if !w.yield(r, nil) {
		return errLeft
	}
	return nil
}

// follow runs one watch on the server until it ends.
func (w *storeWatch) follow(ctx context.Context) error {
	opts := &client.ListOptions{Namespace: w.store.namespace, Raw: &metav1.ListOptions{ResourceVersion: w.at, AllowWatchBookmarks: true}}
	client.MatchingLabels{storeLabel: w.store.name}.ApplyToList(opts)
	events, err := w.store.client.Watch(ctx, &corev1.ConfigMapList{}, opts)
	if err != nil {
		return err
	}
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-events.ResultChan():
			if !open {
				return pause(ctx)
			}
			if err := w.event(event); err != nil {
				return err
			}
		}
	}
}

// pause limits the rate of requests to a server that ends each watch at once,
// or has forgotten every version.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}

func (w *storeWatch) event(event watch.Event) error {
	if event.Type == watch.Error {
		return apierrors.FromObject(event.Object)
	}
	m, ok := event.Object.(*corev1.ConfigMap)
	if !ok {
		return fmt.Errorf("the server sent a %T", event.Object)
	}
	w.at = m.ResourceVersion
	if event.Type == watch.Bookmark {
		return nil
	}
	r, err := w.store.record(m)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(r.Key, w.prefix) {
		return nil
	}
	if event.Type == watch.Deleted {
		r = fairlead.Record{Key: r.Key}
	}
	return w.tell(r)
}
