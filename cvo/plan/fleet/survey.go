package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/plan"
)

// Member is a cluster of a fleet. Situations may share lists: a list that they share in
// memory is read only once.
type Member struct {
	Name      string          // its name in the report
	Situation *plan.Situation // as observed; it is not changed
}

// Report says which clusters of a fleet can be updated.
type Report struct {
	// Groups are clusters with the same result: first those that can be updated, by the
	// number of steps, and then the others, the largest group first.
	Groups []Standing `json:"groups"`
	// Asked is how many plans were computed: equal situations are planned once.
	Asked int `json:"asked"`
}

// Standing is what clusters have in common.
type Standing struct {
	Facts    []string      `json:"facts,omitempty"`  // what rules out every plan; none if there is one
	Fixes    []plan.Fix    `json:"fixes,omitempty"`  // what would help, tried on the first of them
	Error    string        `json:"error,omitempty"`  // why it is unknown whether there is a plan
	To       string        `json:"to,omitempty"`     // the release that the plan leads to
	Steps    int           `json:"steps,omitempty"`  // of the plan
	Takes    time.Duration `json:"takes,omitempty"`  // of the plan, about
	Unseen   int           `json:"unseen,omitempty"` // how many things that the plan depends on were not observed
	Clusters []string      `json:"clusters"`         // by name
}

// Goes reports whether there is a plan.
func (s *Standing) Goes() bool { return len(s.Facts) == 0 && s.Error == "" }

// Survey plans all clusters of a fleet for one goal. Clusters whose situations are equal,
// except for the time of observation and the names and histories of the clusters
// themselves, are planned once; with windows, the time also counts. The error is that of
// the context, or a bad goal or policy; what is wrong with one cluster is reported for it.
//
// Memory grows with the number of different situations, of which it keeps a digest.
func Survey(ctx context.Context, members []Member, goal *plan.Goal, policy *plan.Policy) (*Report, error) {
	if err := policy.Check(); err != nil {
		return nil, err
	}
	d := &digests{of: map[place][sha256.Size]byte{}}
	out := &Report{}
	known := map[[sha256.Size]byte]*Standing{} // by situation
	same := map[string]*Standing{}             // by result
	for _, m := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		key := d.situation(m.Situation, policy != nil && len(policy.Windows) > 0)
		s := known[key]
		if s == nil {
			out.Asked++
			found, err := ask(ctx, m.Situation, goal, policy)
			if err != nil {
				return nil, err
			}
			said := found.key()
			if same[said] == nil {
				same[said] = found
			}
			s = same[said]
			known[key] = s
		}
		s.Clusters = append(s.Clusters, m.Name)
	}
	for _, s := range same {
		slices.Sort(s.Clusters)
		out.Groups = append(out.Groups, *s)
	}
	slices.SortFunc(out.Groups, func(a, b Standing) int {
		if a.Goes() != b.Goes() {
			if a.Goes() {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Steps, b.Steps), cmp.Compare(len(b.Clusters), len(a.Clusters)), strings.Compare(a.key(), b.key()))
	})
	return out, nil
}

// ask plans for one cluster.
func ask(ctx context.Context, s *plan.Situation, goal *plan.Goal, policy *plan.Policy) (*Standing, error) {
	p, err := plan.Make(ctx, s, goal, policy)
	var no *plan.NoPlanError
	switch {
	case err == nil:
		return &Standing{To: p.To, Steps: len(p.Steps), Takes: p.Takes, Unseen: len(p.Unseen)}, nil
	case errors.As(err, &no):
		return &Standing{Facts: no.Facts, Fixes: no.Fixes}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return &Standing{Error: err.Error()}, nil
}

// key identifies the result, regardless of the clusters.
func (s *Standing) key() string {
	return fmt.Sprintf("%q %s %s %d %s %d", s.Facts, s.Error, s.To, s.Steps, s.Takes, s.Unseen)
}

// place is the address of a list in memory.
type place struct {
	first any // a pointer to its first element
	len   int
}

// digests computes digests of situations, and reads each list once.
type digests struct {
	of map[place][sha256.Size]byte
}

func (d *digests) situation(s *plan.Situation, timed bool) [sha256.Size]byte {
	h := sha256.New()
	if s == nil {
		return [sha256.Size]byte(h.Sum(nil))
	}
	if timed {
		fmt.Fprintln(h, s.At)
	}
	rest := *s // what is not read below; fields that are added to Situation are in it
	rest.At, rest.Cluster = time.Time{}, nil
	if c := s.Cluster; c != nil {
		spec, status := c.Spec, c.Status
		spec.ClusterID, status.History, status.ObservedGeneration = "", nil, 0
		write(h, spec)
		write(h, status)
		write(h, c.Generation > c.Status.ObservedGeneration)
		for _, x := range c.Status.History {
			var took time.Duration
			if x.CompletionTime != nil {
				took = x.CompletionTime.Sub(x.StartedTime)
			}
			write(h, []any{x.State, x.Version, took})
		}
	}
	list(d, h, &rest.ClusterOperators)
	list(d, h, &rest.Moves)
	list(d, h, &rest.Risks)
	list(d, h, &rest.Pools)
	list(d, h, &rest.Nodes)
	list(d, h, &rest.Pods)
	list(d, h, &rest.Budgets)
	list(d, h, &rest.Replicas)
	list(d, h, &rest.Machines)
	list(d, h, &rest.Operators)
	list(d, h, &rest.Removed)
	write(h, &rest)
	return [sha256.Size]byte(h.Sum(nil))
}

// write hashes a value as JSON, which distinguishes null from an empty list.
func write(h hash.Hash, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: plain data
	}
	fmt.Fprintf(h, "%d ", len(text))
	h.Write(text)
}

// list hashes a list, takes it out of its situation, and reads it only once.
func list[T any](d *digests, h hash.Hash, from *[]T) {
	values := *from
	*from = nil
	if len(values) == 0 {
		write(h, values)
		return
	}
	at := place{&values[0], len(values)}
	sum, there := d.of[at]
	if !there {
		one := sha256.New()
		write(one, values)
		sum = [sha256.Size]byte(one.Sum(nil))
		d.of[at] = sum
	}
	h.Write(sum[:])
}

// Change is how a change affects clusters.
type Change struct {
	Before   *Standing `json:"before,omitempty"` // nil for clusters that were not there
	After    *Standing `json:"after,omitempty"`  // nil for those that are not there any more
	Clusters []string  `json:"clusters"`         // by name
}

// Compare says which clusters have another result in a second report: what a change, of a
// catalog, a graph or a policy, would do to all of them. First come those that could be
// updated and no longer can, then those that now can, then the others; in each case the
// largest group first.
func Compare(before, after *Report) []Change {
	of := func(r *Report) map[string]*Standing {
		m := map[string]*Standing{}
		for i := range r.Groups {
			for _, name := range r.Groups[i].Clusters {
				m[name] = &r.Groups[i]
			}
		}
		return m
	}
	old, now := of(before), of(after)
	found := map[[2]*Standing]*Change{}
	add := func(name string, a, b *Standing) {
		if a != nil && b != nil && a.key() == b.key() {
			return
		}
		pair := [2]*Standing{a, b}
		if found[pair] == nil {
			found[pair] = &Change{Before: a, After: b}
		}
		found[pair].Clusters = append(found[pair].Clusters, name)
	}
	for name, a := range old {
		add(name, a, now[name])
	}
	for name, b := range now {
		if old[name] == nil {
			add(name, nil, b)
		}
	}
	var list []Change
	for _, c := range found {
		slices.Sort(c.Clusters)
		list = append(list, *c)
	}
	rank := func(c *Change) int {
		goes := func(s *Standing) bool { return s != nil && s.Goes() }
		switch {
		case goes(c.Before) && !goes(c.After):
			return 0
		case !goes(c.Before) && goes(c.After):
			return 1
		}
		return 2
	}
	slices.SortFunc(list, func(a, b Change) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(len(b.Clusters), len(a.Clusters)), strings.Compare(a.Clusters[0], b.Clusters[0]))
	})
	return list
}
