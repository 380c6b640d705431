package fleet

import (
	"slices"

	"github.com/fairlead/fairlead/cvo/plan"
	engine "github.com/fairlead/fairlead/cvo/plan/fleet"
)

// turns says whose turn it is: of the clusters that can be updated or are under way.
func (f *call) turns(out *survey) error {
	w := &engine.World{}
	first, others := engine.Group{Name: "first"}, engine.Group{Name: "others"}
	var asked []string
	for _, g := range out.Groups {
		for _, name := range g.Clusters {
			i := slices.IndexFunc(f.members, func(m engine.Member) bool { return m.Name == name })
			c := engine.Cluster{Name: name, Status: engine.ToApply}
			if i >= 0 {
				c = progress(name, f.members[i].Situation, &g)
			}
			// One of the first that cannot be updated holds up all others.
			early := slices.Contains(f.first, name)
			if !early && !begins(&g) && c.Status == engine.ToApply {
				continue
			}
			if c.Status != engine.ToApply { // one that is not listed has not started
				w.Clusters = append(w.Clusters, c)
			}
			if c.Status == engine.Progressing || c.Status == engine.Failed {
				out.Under = append(out.Under, c)
			}
			into := &others
			if early {
				into = &first
			}
			into.Clusters = append(into.Clusters, name)
			if begins(&g) && c.Status == engine.ToApply {
				asked = append(asked, name)
			}
		}
	}
	w.Groups = []engine.Group{first, others}
	if len(first.Clusters) > 0 {
		f.strategy.First = []string{"first"}
	} else {
		w.Groups = w.Groups[1:]
	}
	due, err := engine.Choose(w, &f.strategy, f.at)
	if err != nil {
		return err
	}
	blocked := func(name string) bool {
		return slices.ContainsFunc(out.Groups, func(g engine.Standing) bool { return !begins(&g) && slices.Contains(g.Clusters, name) })
	}
	due.Go = slices.DeleteFunc(due.Go, func(t engine.Turn) bool {
		is := t.Status == engine.ToApply && blocked(t.Cluster)
		if is {
			out.Waiting = append(out.Waiting, waiting{t.Cluster, t.Cluster + " is due, but cannot be updated, and holds up those that come after it"})
		}
		return is
	})
	out.Due = due
	slices.Sort(asked)
	for _, name := range asked {
		if slices.ContainsFunc(due.Go, func(t engine.Turn) bool { return t.Cluster == name }) {
			continue
		}
		why, err := engine.Why(w, &f.strategy, f.at, name)
		if err != nil {
			return err
		}
		out.Waiting = append(out.Waiting, waiting{name, why})
	}
	return nil
}

// begins reports whether there is a first step for clusters: not where nothing is left, as far as is known.
func begins(g *engine.Standing) bool { return g.Goes() && g.Steps > 0 }

// progress says how far a cluster is: by its ClusterVersion and the plan that is left.
func progress(name string, s *plan.Situation, g *engine.Standing) engine.Cluster {
	c := engine.Cluster{Name: name, Status: engine.ToApply}
	history := s.Cluster.Status.History
	switch progressing := s.Cluster.Says("Progressing"); {
	case g.Goes() && g.Steps == 0 && g.Unseen == 0:
		c.Status = engine.Succeeded
		if len(history) > 0 && history[0].CompletionTime != nil {
			c.Since = *history[0].CompletionTime
		}
	case progressing != nil:
		c.Status, c.Since = engine.Progressing, progressing.LastTransitionTime
		if len(history) > 0 && !history[0].StartedTime.IsZero() {
			c.Since = history[0].StartedTime
		}
		if failing := s.Cluster.Says("Failing"); failing != nil {
			c.Status, c.Since = engine.Failed, failing.LastTransitionTime
		}
	}
	return c
}
