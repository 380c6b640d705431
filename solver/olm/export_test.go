package olm

import (
	"context"

	"github.com/fairlead/fairlead/catalog"
)

// Selection returns the ids of the entries that an answer selects: the chosen
// ones and the installed ones that stay.
func (r *Resolver) Selection(ctx context.Context, req *Request) ([]string, error) {
	q, err := r.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	selected, err := q.solve(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range selected {
		ids = append(ids, e.id)
	}
	return ids, nil
}

// Evaluate runs the checker on a selection given by ids.
func (r *Resolver) Evaluate(ctx context.Context, req *Request, ids []string) error {
	q, err := r.begin(ctx, req)
	if err != nil {
		return err
	}
	known := make(map[string]*entry)
	for _, e := range q.installed {
		known[e.id] = e
	}
	for _, s := range r.sources {
		for p := range s.Catalog.Packages() {
			for _, ch := range s.pkg(p.Name()).channels {
				for _, e := range ch.entries {
					known[e.id] = e
				}
			}
		}
	}
	var selected []*entry
	for _, id := range ids {
		selected = append(selected, known[id])
	}
	return q.check(ctx, selected)
}

// Projected returns the properties of an installed operator.
func Projected(c *ClusterServiceVersion, subs []*Subscription) ([]catalog.Property, error) {
	return projected(c, subs)
}
