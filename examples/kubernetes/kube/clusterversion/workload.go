package clusterversion

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// slowKinds are the kinds that take time after they were applied, each with a
// function that returns the progress.
var slowKinds = []struct {
	kind schema.GroupVersionKind
	far  func(*unstructured.Unstructured) (waiting, failed string)
}{
	{apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), definition},
	{appsv1.SchemeGroupVersion.WithKind("Deployment"), deployment},
	{appsv1.SchemeGroupVersion.WithKind("DaemonSet"), daemonSet},
	{batchv1.SchemeGroupVersion.WithKind("Job"), job},
}

func slow(id payload.ID) bool {
	for _, s := range slowKinds {
		if id.Kind == s.kind.Kind && id.Group == s.kind.Group {
			return true
		}
	}
	return false
}

// lag is how long after an apply a resource may be missing in the cache
// before it counts as gone.
const lag = 10 * time.Second

// workloads returns the resources that take time and are not ready: applied
// ones, and those of kept payloads that do not exist. The engine ignores those
// that it has not applied yet.
func (b *Backend) workloads(ctx context.Context) ([]cvo.Workload, error) {
	var out []cvo.Workload
	there := map[payload.ID]bool{}
	for _, s := range slowKinds {
		list, err := b.list(ctx, s.kind, client.MatchingLabels{Label: b.opts.Name})
		if err != nil {
			return nil, err
		}
		for i := range list {
			u := &list[i]
			id := payload.ID{Group: s.kind.Group, Kind: s.kind.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
			there[id] = true
			if w := b.workload(id, u, s.far); w.Waiting != "" || w.Failed != "" {
				out = append(out, w)
			}
		}
	}
	for _, id := range b.releases.slow() {
		if !there[id] {
			there[id] = true
			out = append(out, b.absent(id))
		}
	}
	slices.SortFunc(out, func(x, y cvo.Workload) int { return compare(x.ID, y.ID) })
	return out, nil
}

// workload returns the progress of one resource.
func (b *Backend) workload(id payload.ID, u *unstructured.Unstructured, far func(*unstructured.Unstructured) (waiting, failed string)) cvo.Workload {
	w := cvo.Workload{ID: id}
	switch p, ok := b.applied.last(id); {
	case ok && older(u.GetResourceVersion(), p.version):
		w.Waiting = "it has not been observed since it was applied"
	case u.GetDeletionTimestamp() != nil:
		w.Waiting = "it is being deleted"
	default:
		w.Waiting, w.Failed = far(u)
	}
	return w
}

// absent reports a resource that should exist and does not.
func (b *Backend) absent(id payload.ID) cvo.Workload {
	if p, ok := b.applied.last(id); ok && b.opts.Clock.Now().Before(p.at.Add(lag)) {
		return cvo.Workload{ID: id, Waiting: "it has not been observed since it was applied"}
	}
	return cvo.Workload{ID: id, Failed: "it does not exist, or has lost the label " + Label}
}

// older reports whether a seen version of a resource is older than another one.
func older(seen, last string) bool {
	order, err := resourceversion.CompareResourceVersion(seen, last)
	return err == nil && order < 0
}
