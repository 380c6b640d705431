package install_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// market is a namespace in memory in which operators are subscribed to and updated.
type market struct {
	*rand.Rand
	*tinyShop
	shop *shop
	seen map[string]int // what was done, by kind
}

// Observe implements install.Backend.
func (m *market) Observe(_ context.Context, namespace string) (*install.World, error) {
	m.Cluster.Sources = m.shop.sources[m.shop.of(m.tinyShop)]
	return install.Look(m.Cluster, m.shop.resolve(m.shop.of(m.tinyShop)), namespace)
}

// Apply implements install.Backend.
func (m *market) Apply(ctx context.Context, namespace string, a install.Action) error {
	err := m.Cluster.Apply(ctx, namespace, a)
	if err == nil {
		m.seen[a.Key().Kind]++
	}
	return err
}

func (m *market) edit(f func(w *install.World)) {
	_ = m.Cluster.Edit(ns, func(w *install.World) error { f(w); return nil })
}

// Change implements fairlead.Trial.
func (m *market) Change() {
	switch m.IntN(6) {
	case 0:
		m.Published = m.Published || m.IntN(3) == 0
	case 1:
		if csvs := m.Cluster.World(ns).CSVs; len(csvs) > 0 {
			m.Health[csvs[m.IntN(len(csvs))].Name] = []install.Health{install.Ready, install.Progressing, install.Broken}[m.IntN(3)]
		}
	case 2:
		m.edit(func(w *install.World) {
			for i := range w.Plans {
				w.Plans[i].Spec.Approved = true
			}
		})
	case 3:
		m.edit(func(w *install.World) {
			if n := len(w.Subscriptions); n > 0 {
				w.Subscriptions[m.IntN(n)].Annotations = map[string]string{"touched": fmt.Sprint(m.IntN(9))}
			}
		})
	}
}

// Check implements fairlead.Trial: at most one version of a package and one that replaces
// it are there, and no plan is carried out that waits for approval.
func (m *market) Check() error {
	w := m.Cluster.World(ns)
	count := map[byte]int{}
	for i := range w.CSVs {
		if count[w.CSVs[i].Name[0]]++; count[w.CSVs[i].Name[0]] > 2 {
			return fmt.Errorf("there are three versions of %c", w.CSVs[i].Name[0])
		}
	}
	for i := range w.Plans {
		if p := &w.Plans[i]; !p.Spec.Approved && p.Status.Phase == install.PlanComplete {
			return fmt.Errorf("plan %s is carried out, and nobody has approved it", p.Name)
		}
	}
	return nil
}

// Settled implements fairlead.Trial.
func (m *market) Settled(string) error {
	m.Published = true
	clear(m.Health)
	w := m.Cluster.World(ns)
	for _, p := range w.Plans {
		if !p.Spec.Approved {
			m.edit(func(w *install.World) {
				for i := range w.Plans {
					w.Plans[i].Spec.Approved = true
				}
			})
		}
	}
	for _, want := range []string{"a.v2", "b.v2"} {
		if !slices.ContainsFunc(w.CSVs, func(c install.CSV) bool { return c.Name == want && c.Status.Phase == "Succeeded" }) {
			return fmt.Errorf("%s has not succeeded", want)
		}
	}
	return nil
}

// TestEngine installs and updates operators with faults of all kinds.
func TestEngine(t *testing.T) {
	s := newShop(t)
	seen := map[string]int{}
	var last *market
	open := func(r *rand.Rand, _ *fairlead.ManualClock) fairlead.Trial[*install.World, install.Action] {
		if last != nil {
			for k, n := range last.seen {
				seen[k] += n
			}
		}
		last = &market{Rand: r, shop: s, seen: map[string]int{}, tinyShop: s.world([]olm.Approval{"", olm.ApprovalManual}[r.IntN(2)])}
		return last
	}
	engine, err := install.NewEngine(&install.MemBackend{}, s.resolve(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(30, 10_000), Names: []string{ns}}); err != nil {
		t.Fatal(err)
	}
	if t.Log(seen); seen["ApplyStep"] == 0 {
		t.Errorf("nothing was installed: %v", seen)
	}
}
