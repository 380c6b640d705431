package plan_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// spot is where a search over all orders is.
type spot struct {
	release  int
	at       [3]int // of pools: the release, -1 for an older one
	paused   [3]bool
	ops      [3]int
	changed  bool // clients use another API
	acked    [2]bool
	budget   [3]bool
	room     [3]bool
	nodeRoom bool
	replaced [2]bool
	out      bool
}

type price struct{ unknown, steps, restarts int }

func (w *world) less(a, b price) int {
	if w.Least {
		return cmp.Or(cmp.Compare(a.unknown, b.unknown), cmp.Compare(a.restarts, b.restarts), cmp.Compare(a.steps, b.steps))
	}
	return cmp.Or(cmp.Compare(a.unknown, b.unknown), cmp.Compare(a.steps, b.steps), cmp.Compare(a.restarts, b.restarts))
}

// brute finds the price of the best plan by trying all orders of all steps.
func (w *world) brute() (best price, ok bool) {
	target := len(w.Releases) - 1
	if w.Stay {
		target = 0
	}
	var first spot
	for i, p := range w.Pools {
		first.at[i], first.paused[i] = p.At, p.Paused
	}
	dist := map[spot]price{first: {}}
	queue := map[price][]spot{{}: {first}}
	prices := []price{{}} // of the queue, the best one last
	done := map[spot]bool{}
	for len(prices) > 0 {
		at := prices[len(prices)-1]
		list := queue[at]
		if len(list) == 0 {
			prices = prices[:len(prices)-1]
			delete(queue, at)
			continue
		}
		x := list[len(list)-1]
		queue[at] = list[:len(list)-1]
		if done[x] || dist[x] != at {
			continue
		}
		done[x] = true
		if w.reached(x, target) {
			return dist[x], true
		}
		w.next(x, target, func(y spot, cost price) {
			total := price{dist[x].unknown + cost.unknown, dist[x].steps + 1 + cost.steps, dist[x].restarts + cost.restarts}
			if old, there := dist[y]; !there || w.less(total, old) < 0 {
				dist[y] = total
				if _, there := queue[total]; !there {
					i, _ := slices.BinarySearchFunc(prices, total, func(a, b price) int { return w.less(b, a) })
					prices = slices.Insert(prices, i, total)
				}
				queue[total] = append(queue[total], y)
			}
		})
	}
	return price{}, false
}

func (w *world) reached(x spot, target int) bool {
	if x.release != target || len(w.Nodes) > 0 && !x.out {
		return false
	}
	for i := range w.Pools {
		if !w.Stay && (x.at[i] != target || x.paused[i]) {
			return false
		}
	}
	for i, o := range w.Ops {
		if o.Goal >= 0 && x.ops[i] != o.Goal {
			return false
		}
	}
	return true
}

// next tells each step that may be taken.
func (w *world) next(x spot, target int, take func(spot, price)) {
	minor := minorOf(w.Releases[x.release])
	goes := !w.Stay
	for i := range w.Gates {
		if !x.acked[i] && goes {
			y := x
			y.acked[i] = true
			take(y, price{})
		}
	}
	w.hops(x, minor, 0, x.ops, -1, take)
	if goes && w.leaves() && w.Clients && !x.changed {
		y := x
		y.changed = true
		take(y, price{})
	}
	for i, p := range w.Pools {
		if p.Budget && !x.budget[i] && !w.KeepBudgets {
			y := x
			y.budget[i] = true
			take(y, price{})
		}
		if p.NoRoom && !x.room[i] && !w.KeepNodes {
			y := x
			y.room[i] = true
			take(y, price{})
		}
	}
	for i := range min(w.Sick, 2) {
		if w.Sick == 1 && !x.replaced[i] && !w.KeepMembers {
			y := x
			y.replaced[i] = true
			take(y, price{})
		}
	}
	if len(w.Nodes) > 0 && !x.out {
		p := w.Pools[1]
		if p.NoRoom && !x.nodeRoom && !w.KeepNodes {
			y := x
			y.nodeRoom = true
			take(y, price{})
		}
		if (!p.Budget || x.budget[1]) && (!p.NoRoom || x.nodeRoom) {
			y := x
			y.out = true
			take(y, price{restarts: 1})
		}
	}
	if goes {
		w.nextRelease(x, target, take)
	}
}

// leaves reports whether the API "old" goes away on the way.
func (w *world) leaves() bool { return w.Gone > 18 }

// hops tells where install plans lead that move one operator or several, from the
// i-th on. More is how many hops there are besides the first.
func (w *world) hops(x spot, minor, i int, at [3]int, more int, take func(spot, price)) {
	if i == len(w.Ops) {
		if more >= 0 && w.satisfied(x.ops, at) {
			y := x
			y.ops = at
			take(y, price{steps: more})
		}
		return
	}
	w.hops(x, minor, i+1, at, more, take)
	o := w.Ops[i]
	for _, h := range o.Hops {
		if w.alone(i) && slices.ContainsFunc(o.Hops, func(x worldHop) bool {
			return x.From == h.From && x.To > h.To && (x.Minor == 0 || x.Minor == minor)
		}) {
			continue // the resolver takes the newest
		}
		gone := o.Uses[h.To] && w.leaves() && minor >= w.Gone && minorOf(w.Releases[len(w.Releases)-1]) >= w.Gone
		if h.From == x.ops[i] && !o.Keep && !gone && (h.Minor == 0 || h.Minor == minor) && (o.Max[h.To] == 0 || o.Max[h.To] >= minor) && o.Min[h.To] <= minor {
			next := at
			next[i] = h.To
			w.hops(x, minor, i+1, next, more+1, take)
		}
	}
}

// alone reports whether an operator requires nothing, and others nothing of it.
func (w *world) alone(i int) bool {
	for j, o := range w.Ops {
		for k, needs := range o.Needs {
			for _, n := range needs {
				switch {
				case n.API != "" && slices.Contains(o.Gives[k], n.API): // its own
				case j == i, n.API == "" && n.Op == i:
					return false
				case n.API != "" && slices.ContainsFunc(w.Ops[i].Gives, func(gives []string) bool { return slices.Contains(gives, n.API) }):
					return false
				}
			}
		}
	}
	return true
}

// satisfied reports whether each operator has what it requires after an install plan:
// one that does not move may go on without what it lacked before.
func (w *world) satisfied(before, at [3]int) bool {
	has := func(i int, n worldNeed, at [3]int) bool {
		for k, o := range w.Ops {
			if n.API == "" && k == n.Op && k != i && at[k] >= n.Lo && at[k] <= n.Top || n.API != "" && slices.Contains(o.Gives[at[k]], n.API) {
				return true
			}
		}
		return false
	}
	for i, o := range w.Ops {
		for _, n := range o.Needs[at[i]] {
			if !has(i, n, at) && (at[i] != before[i] || has(i, n, before)) {
				return false
			}
		}
	}
	return true
}

// nextRelease tells the steps of pools and of the cluster.
func (w *world) nextRelease(x spot, target int, take func(spot, price)) {
	for i, p := range w.Pools {
		control := p.Name == "master"
		if !control && x.paused[i] {
			y := x
			y.paused[i] = false
			take(y, price{})
		}
		if !control && !x.paused[i] && !w.NoPause || !control && !x.paused[i] && p.Paused {
			y := x
			y.paused[i] = true
			take(y, price{})
		}
		quorum := !control || w.Sick == 0 || w.Sick == 1 && x.replaced[0]
		if !x.paused[i] && x.at[i] != x.release && quorum && !p.Cordoned && (!p.Budget || x.budget[i]) && (!p.NoRoom || x.room[i]) {
			y := x
			y.at[i] = x.release
			take(y, price{restarts: p.Nodes})
		}
	}
	for _, e := range w.Edges {
		if e.From != x.release || e.Risk == "Applies" && !slices.Contains(w.Accept, "Applies") {
			continue
		}
		if w.blocked(x, e) {
			continue
		}
		cost := price{}
		if e.Risk == "Maybe" || e.Risk == "Other" {
			cost.unknown = 1
		}
		y := x
		y.release = e.To
		take(y, cost)
	}
}

// blocked reports whether the cluster cannot take an update.
func (w *world) blocked(x spot, e worldEdge) bool {
	from, to := minorOf(w.Releases[e.From]), minorOf(w.Releases[e.To])
	for i, p := range w.Pools {
		if !x.paused[i] && (x.at[i] != x.release || w.PauseWorkers && p.Name != "master") {
			return true
		}
		at := 18
		if x.at[i] >= 0 {
			at = minorOf(w.Releases[x.at[i]])
		}
		if to-at > cvo.KubeletSkew(4, uint64(to)) {
			return true
		}
	}
	if from == to {
		return false
	}
	if from == 18 && (w.Upgrade || slices.Contains(x.acked[:len(w.Gates)], false)) {
		return true
	}
	if from < w.Gone && to >= w.Gone && w.Clients && !x.changed {
		return true
	}
	for i, o := range w.Ops {
		if limit := o.Max[x.ops[i]]; limit > 0 && limit < to || o.Uses[x.ops[i]] && w.leaves() && to >= w.Gone {
			return true
		}
	}
	return false
}

// Plans of random small worlds are as good as the best of all orders, and there is
// one whenever there is any. Each proof is checked.
func TestBruteForce(t *testing.T) {
	n := long.N(150, 20_000)
	planned, kinds := 0, map[plan.Kind]int{}
	for seed := range uint64(n) {
		w := draw(rand.New(rand.NewPCG(20, seed)))
		s, goal, policy := w.situation()
		want, ok := w.brute()
		question, _ := json.Marshal([]any{s, goal, policy})
		p, err := plan.Make(t.Context(), s, goal, policy)
		if after, _ := json.Marshal([]any{s, goal, policy}); !bytes.Equal(question, after) {
			t.Fatalf("seed %d: the question was changed:\n%s\n%s", seed, question, after)
		}
		var no *plan.NoPlanError
		if err != nil && !errors.As(err, &no) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if ok != (err == nil) {
			t.Fatalf("seed %d: brute force finds a plan: %v; %v\n%+v", seed, ok, err, w)
		}
		if !ok {
			if lines := strings.Count(err.Error(), "\n") + 1; lines > plan.MaxLines || len(no.Facts) == 0 {
				t.Fatalf("seed %d: %d lines, %d facts:\n%v", seed, lines, len(no.Facts), err)
			}
			continue
		}
		planned++
		for _, x := range p.Steps {
			kinds[x.Kind]++
		}
		if got := (price{p.Cost.Unknown, p.Cost.Steps, p.Cost.Restarts}); got != want {
			t.Fatalf("seed %d: the plan costs %+v, and the best %+v\n%v%+v", seed, got, want, p, w)
		}
		if err := w.walk(p); err != nil {
			t.Fatalf("seed %d: %v\n%v%+v", seed, err, p, w)
		}
		if err := plan.CheckCommands(s, p); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, p)
		}
		if seed%5 == 0 {
			if err := plan.Check(t.Context(), s, goal, policy, p); err != nil {
				t.Fatalf("seed %d: %v\n%v", seed, err, p)
			}
		}
	}
	t.Logf("%d of %d worlds have a plan; steps: %v", planned, n, kinds)
	if planned < n/4 || len(kinds) < 11 {
		t.Errorf("%d of %d have a plan, with steps %v", planned, n, kinds)
	}
}

// walk takes the steps of a plan in their order: each must be possible, and of hops that
// go together none alone.
func (w *world) walk(p *plan.Plan) error {
	target := len(w.Releases) - 1
	if w.Stay {
		target = 0
	}
	var x spot
	for i, p := range w.Pools {
		x.at[i], x.paused[i] = p.At, p.Paused
	}
	for k, s := range p.Steps {
		want := x
		if k > 0 && len(p.Steps[k-1].With) > 0 && slices.Contains(s.With, p.Steps[k-1].To) {
			continue // of the same install plan
		}
		pool := slices.IndexFunc(w.Pools, func(p worldPool) bool {
			return p.Name == s.Subject || "pool "+p.Name == s.Subject || "shop/"+p.Name == s.Subject
		})
		switch s.Kind {
		case plan.ReplaceMember:
			want.replaced[0] = true
		case plan.FixBudget:
			want.budget[pool] = true
		case plan.FreeRoom:
			if pool < 0 {
				want.nodeRoom = true
			} else {
				want.room[pool] = true
			}
		case plan.OutOfService:
			want.out = true
		case plan.Unpause:
			want.paused[pool] = false
		case plan.Pause:
			want.paused[pool] = true
		case plan.Roll:
			want.at[pool] = slices.Index(w.Releases, s.To)
		case plan.MoveCluster:
			want.release = slices.Index(w.Releases, s.To)
		case plan.Acknowledge:
			want.acked[slices.Index(w.Gates, s.Subject)] = true
		case plan.MoveOperator:
			for _, csv := range append(s.With, s.To) {
				var i, v int
				fmt.Sscanf(csv, "op%d.v%d", &i, &v)
				want.ops[i] = v - 1
			}
		case plan.ChangeClients:
			want.changed = true
		}
		ok, alone := false, false
		w.next(x, target, func(y spot, _ price) {
			ok = ok || y == want
			for i := range x.ops {
				one := x
				one.ops[i] = want.ops[i]
				alone = alone || len(s.With) > 0 && y == one
			}
		})
		if alone {
			return fmt.Errorf("step %d, %s: one of these can go alone", k+1, s)
		}
		if !ok {
			return fmt.Errorf("step %d, %s, is not possible where it stands", k+1, s)
		}
		x = want
	}
	if !w.reached(x, target) {
		return errors.New("the goal is not reached")
	}
	return nil
}
