package signature

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The config maps with the cluster's signatures.
const (
	// Namespace is the namespace of the config maps with signatures.
	Namespace = "openshift-config-managed"
	// Label is the label of these config maps, with any value.
	Label = "release.openshift.io/verification-signatures"
)

// ConfigMaps returns the store of the cluster itself: config maps of
// [Namespace] with the label [Label]. Their binaryData contains signatures
// under <algorithm>-<hash>, followed by anything, as in sha256-8c04…-1. It
// needs the permission to list config maps there. The complete list is in
// memory while it is searched.
func ConfigMaps(reader client.Reader) Store { return configMaps{reader} }

type configMaps struct{ reader client.Reader }

// Name returns the name of the store, with the namespace of the config maps.
func (s configMaps) Name() string { return "config maps of " + Namespace }

// Signatures yields signatures by config map, then by key.
func (s configMaps) Signatures(ctx context.Context, digest string) iter.Seq2[Signature, error] {
	return func(yield func(Signature, error) bool) {
		var list corev1.ConfigMapList
		if err := s.reader.List(ctx, &list, client.InNamespace(Namespace), client.HasLabels{Label}); err != nil {
			yield(Signature{}, fmt.Errorf("they cannot be listed: %w", err))
			return
		}
		slices.SortFunc(list.Items, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
		prefix := strings.Replace(digest, ":", "-", 1)
		for _, m := range list.Items {
			for _, key := range slices.Sorted(maps.Keys(m.BinaryData)) {
				if strings.HasPrefix(key, prefix) && !yield(Signature{m.Name + "/" + key, m.BinaryData[key]}, nil) {
					return
				}
			}
		}
	}
}
