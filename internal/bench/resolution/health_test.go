package resolution

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/explain"
	"github.com/fairlead/fairlead/solver/olm/resource"
	shown "github.com/fairlead/fairlead/solver/olm/source"
)

// TestHealth: in namespaces whose catalogs answer or do not, OLM's resolver resolves nothing where
// one that the namespace sees does not answer, and so does ours; the explanation then says which
// one, and never where all of them answer.
func TestHealth(t *testing.T) {
	ctx, met := context.Background(), map[string]int{}
	for seed := range uint64(long.N(400, 10_000)) {
		task, err := Draw(ctx, seed)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 9))
		c := &explain.Cluster{Global: task.Global, Kinds: []explain.Kind{explain.KindCatalogSource, explain.KindCSV}}
		if r.IntN(4) == 0 { // one that the namespace does not see
			task.Sources = append(task.Sources, olm.Source{SourceKey: olm.SourceKey{Name: "far", Namespace: "far"}, Err: errors.New("far away")})
		}
		for i := range task.Sources {
			s := &task.Sources[i]
			if s.Err == nil && r.IntN(4) == 0 {
				s.Err, s.Catalog = errors.New("does not answer"), nil
			}
			c.Catalogs = append(c.Catalogs, observed(s))
		}
		for _, s := range task.Request.Subscriptions {
			c.Subscriptions = append(c.Subscriptions, resource.Subscription(s))
		}
		p, err := newPeer(task.Global, task.Sources)
		if err != nil {
			t.Fatal(err)
		}
		resolve, err := p.prepare(task.Request)
		if err != nil {
			t.Fatal(err)
		}
		visible := false // whether one that the namespace sees does not answer
		for i := range task.Sources {
			s := &task.Sources[i]
			visible = visible || s.Err != nil && (s.Namespace == task.Request.Namespace || s.Namespace == task.Global)
		}
		_, theirs := resolve()
		if visible && theirs == nil {
			t.Fatalf("seed %d: OLM resolves though a catalog does not answer", seed)
		}
		ours, err := olm.NewResolver(task.Sources, &olm.Options{GlobalNamespace: task.Global})
		if err != nil {
			t.Fatal(err)
		}
		_, mine := ours.Resolve(ctx, task.Request)
		var sick *olm.SourceError
		if errors.As(mine, &sick) != visible {
			t.Fatalf("seed %d: a catalog does not answer: %v, and ours says %v", seed, visible, mine)
		}
		for i := range c.Subscriptions {
			told := false
			for _, w := range c.Subscription(c.Subscriptions[i].Namespace, c.Subscriptions[i].Name).Waits {
				told = told || w.Reason == explain.ReasonCatalogUnhealthy
			}
			if told != visible {
				t.Fatalf("seed %d: a catalog does not answer: %v, told: %v", seed, visible, told)
			}
		}
		met[map[bool]string{true: "sick", false: "well"}[visible]]++
	}
	if met["sick"] == 0 || met["well"] == 0 {
		t.Errorf("not everything was met: %v", met)
	}
	t.Log(met)
}

// observed is a catalog as a cluster shows it.
func observed(s *olm.Source) shown.CatalogSource {
	c := shown.CatalogSource{}
	c.Name, c.Namespace = s.Name, s.Namespace
	c.Spec.SourceType, c.Spec.Image = shown.TypeGRPC, "example.com/c:1"
	c.Status.ConnectionState = &shown.ConnectionState{LastObservedState: shown.StateReady}
	if s.Err != nil {
		c.Status.ConnectionState.LastObservedState = "TRANSIENT_FAILURE"
	}
	return c
}
