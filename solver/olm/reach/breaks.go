package reach

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm/crd"
)

// Breaks returns the changes of CustomResourceDefinitions from a bundle to the one that updates
// it that could make a valid object invalid, other than changes of defaults: OLM v1 refuses such an update, and OLM v0 does
// once there is such an object. Only definitions among the bundles' manifests
// (olm.bundle.object) are known. The error is that of ctx or of reading.
func Breaks(ctx context.Context, from, to *catalog.Bundle) ([]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	old, err := definitions(from)
	if err != nil || len(old) == 0 {
		return nil, err
	}
	now, err := definitions(to)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, was := range old {
		for _, is := range now {
			if was.Name != is.Name {
				continue
			}
			for _, v := range was.Spec.Versions { // what may be stored, as no cluster says what is
				if v.Storage {
					was.Status.StoredVersions = []string{v.Name}
				}
			}
			changes, err := crd.Compare(was, is)
			if err != nil {
				continue // checked where bundles are
			}
			for _, c := range changes {
				if c.Default { // objects stay valid
					continue
				}
				found = append(found, fmt.Sprintf("CustomResourceDefinition %s: %s", was.Name, c))
			}
		}
	}
	return found, nil
}

// definitions returns the definitions in the payload of a bundle, in their order.
func definitions(b *catalog.Bundle) ([]*crd.Definition, error) {
	properties, err := b.Properties()
	if err != nil {
		return nil, err
	}
	var all []*crd.Definition
	for _, p := range properties {
		var object struct {
			Data []byte `json:"data"`
		}
		if p.Type != catalog.PropertyBundleObject || json.Unmarshal(p.Value, &object) != nil {
			continue
		}
		var kind struct {
			Kind string `json:"kind"`
		}
		d := &crd.Definition{}
		if json.Unmarshal(object.Data, &kind) == nil && kind.Kind == "CustomResourceDefinition" && json.Unmarshal(object.Data, d) == nil {
			all = append(all, d)
		}
	}
	return all, nil
}
