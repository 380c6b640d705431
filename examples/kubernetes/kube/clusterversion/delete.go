package clusterversion

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/cvo/payload"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deleting contains the resources whose deletion was requested and that may
// still exist.
type deleting struct {
	mu sync.Mutex
	by map[payload.ID]removal
}

// removal is one such resource.
type removal struct {
	kind schema.GroupVersionKind
	uid  types.UID
}

// delete deletes the resource of a manifest, exactly the object that it reads.
// If the resource or its kind does not exist, there is nothing to do.
func (b *Backend) delete(ctx context.Context, m *payload.Manifest) error {
	r := removal{kind: schema.FromAPIVersionAndKind(m.APIVersion, m.ID.Kind)}
	found, err := b.metadata(ctx, m.ID, r.kind)
	if err != nil {
		return told(err, "delete %s", m.ID)
	}
	if found == nil {
		return nil
	}
	r.uid = found.UID
	b.deleting.set(m.ID, r)
	if found.DeletionTimestamp != nil {
		return nil
	}
	err = b.client.Delete(ctx, found, client.Preconditions{UID: &r.uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) {
		return nil
	}
	return told(err, "delete %s", m.ID)
}

// metadata reads the metadata of a resource; nil if it does not exist.
func (b *Backend) metadata(ctx context.Context, id payload.ID, kind schema.GroupVersionKind) (*metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(kind)
	err := b.client.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, found)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	return found, err
}

// removals returns the resources that are being deleted and still exist, sorted
// by identity.
func (b *Backend) removals(ctx context.Context) ([]payload.ID, error) {
	var out []payload.ID
	for id, r := range b.deleting.all() {
		found, err := b.metadata(ctx, id, r.kind)
		if err != nil {
			return nil, fmt.Errorf("%s, which is being deleted: %w", id, err)
		}
		if found == nil || found.UID != r.uid {
			b.deleting.gone(id, r.uid)
			continue
		}
		out = append(out, id)
	}
	slices.SortFunc(out, compare)
	return out, nil
}

func (d *deleting) set(id payload.ID, r removal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil {
		d.by = map[payload.ID]removal{}
	}
	d.by[id] = r
}

func (d *deleting) gone(id payload.ID, uid types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by[id].uid == uid {
		delete(d.by, id)
	}
}

func (d *deleting) all() map[payload.ID]removal {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.by)
}

// compare orders resources as the engine requires.
func compare(a, b payload.ID) int { return strings.Compare(a.String(), b.String()) }
