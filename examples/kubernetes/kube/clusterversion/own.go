package clusterversion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/cvo"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Pod names the pod that the controller runs in.
type Pod struct {
	Namespace string // of the pod
	Name      string // of the pod
	Container string // in the pod; empty means its first one
}

// runs remembers the image of the pod. It does not change while the process runs,
// but the runtime may report its digest late.
type runs struct {
	mu    sync.Mutex
	known bool
	is    cvo.Release
}

// own returns the release that this process belongs to: from the image of its
// pod, if the pod is known, and not from arguments that may be outdated.
func (b *Backend) own(ctx context.Context) (cvo.Release, error) {
	if b.opts.Pod == nil {
		return b.opts.Own, nil
	}
	b.runs.mu.Lock()
	defer b.runs.mu.Unlock()
	if b.runs.known {
		return b.runs.is, nil
	}
	is, err := b.look(ctx, b.opts.Pod)
	b.runs.is, b.runs.known = is, err == nil && strings.Contains(is.Image, "@")
	return is, err
}

// look reads the image of the pod.
func (b *Backend) look(ctx context.Context, p *Pod) (cvo.Release, error) {
	var pod corev1.Pod
	if err := b.client.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: p.Name}, &pod); err != nil {
		return cvo.Release{}, fmt.Errorf("pod %s/%s, in which this process should run: %w", p.Namespace, p.Name, err)
	}
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return p.Container == "" || c.Name == p.Container })
	if i < 0 {
		return cvo.Release{}, fmt.Errorf("pod %s/%s has no container %q: name the one that this process runs in", p.Namespace, p.Name, p.Container)
	}
	image := pod.Spec.Containers[i].Image
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == pod.Spec.Containers[i].Name && !strings.Contains(image, "@") {
			image = pulled(s.ImageID, image)
		}
	}
	if cvo.SameImage(image, b.opts.Own.Image) {
		return b.opts.Own, nil
	}
	return cvo.Release{Image: image}, nil // its version comes from its payload
}

// pulled returns the image that a runtime reports as pulled, by digest; the
// requested image if it reports none.
func pulled(id, asked string) string {
	if _, rest, found := strings.Cut(id, "://"); found {
		id = rest // docker-pullable://...
	}
	if strings.Contains(id, "@") {
		return id
	}
	return asked
}
