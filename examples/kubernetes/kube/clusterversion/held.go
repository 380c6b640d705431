package clusterversion

import (
	"context"
	"sync"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// held is the ClusterVersion as the server last returned it: when it was read, or in
// the answer to a write of its status. It is not read again
//
//  1. while Options.Reports has the same version of it, or the same as before;
//  2. and while the requested release is the one that is applied. Nothing else is
//     begun based on a cache that lags behind.
type held struct {
	mu      sync.Mutex
	object  *unstructured.Unstructured
	settled bool   // the requested release is applied
	cached  string // the version that Reports had before
}

// set stores an object; nil stores none.
func (h *held) set(object *unstructured.Unstructured, settled bool, cached string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.object, h.settled, h.cached = object, settled, cached
}

// current returns the held object; nil if it must be read.
func (h *held) current(cached string) *unstructured.Unstructured {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.object == nil || !h.settled || cached == "" || cached != formOf(h.object) && cached != h.cached {
		return nil
	}
	return h.object
}

// settled reports whether the requested release is the one that is applied.
func settled(v *cvo.ClusterVersion) bool {
	is, asked := v.Status.Desired, v.Spec.DesiredUpdate
	switch {
	case asked == nil:
		return len(v.Status.History) > 0 && v.Status.History[0].State == cvo.Completed
	case asked.Image != "":
		return cvo.SameImage(asked.Image, is.Image)
	}
	return asked.Version == is.Version
}

// formOf names an object and its version.
func formOf(u *unstructured.Unstructured) string {
	return string(u.GetUID()) + " " + u.GetResourceVersion()
}

// cached returns the formOf of the ClusterVersion in Reports; "" if that is not
// known.
func (b *Backend) cached(ctx context.Context) string {
	if !b.opts.reported {
		return ""
	}
	u := kube.Stub(kindVersion, "", b.opts.Name)
	if err := b.opts.Reports.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return ""
	}
	return formOf(u)
}
