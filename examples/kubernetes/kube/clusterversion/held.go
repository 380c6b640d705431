package clusterversion

import (
	"context"
	"sync"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// held is the ClusterVersion as the server has told it last: when it was read, or in
// the answer to a status that was written. It is not read again
//
//  1. while Options.Reports has the same version of it, or has not moved since;
//  2. and while the release that is asked for is the one that is applied. Nothing
//     else is begun because of what a cache that lags did not have.
type held struct {
	mu      sync.Mutex
	object  *unstructured.Unstructured
	settled bool   // what is asked for is applied
	cached  string // what Reports had of it before
}

// set holds an object; nil holds none.
func (h *held) set(object *unstructured.Unstructured, settled bool, cached string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.object, h.settled, h.cached = object, settled, cached
}

// current returns what is held, nil if it is to be read.
func (h *held) current(cached string) *unstructured.Unstructured {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.object == nil || !h.settled || cached == "" || cached != formOf(h.object) && cached != h.cached {
		return nil
	}
	return h.object
}

// settled reports whether the release that is asked for is the one that is applied.
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

// cached names the ClusterVersion as Reports has it; "" if that is not known.
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
