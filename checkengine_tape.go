package fairlead

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
)

// tape says what goes wrong in a run: at each point something may, and is chosen by
// number. Zero means that nothing does.
type tape struct {
	seed   uint64        // of the world, and of the choices if they are random
	random bool          // faults are drawn, else they are those of picks
	picks  map[point]int // what goes wrong
	long   bool          // a long run in which the world changes and nothing fails
}

// point is when something may go wrong. What goes wrong in one move does not change the
// points of others.
type point struct{ move, call int }

func (a point) compare(b point) int { return cmp.Or(a.move-b.move, a.call-b.call) }

// chooser makes the choices of a run, and notes them.
type chooser struct {
	tape   tape
	at     point
	made   []choice
	chance *rand.Rand
	swarm  map[occasion][]int // how much likelier than usual each choice is in this run
}

// occasion is where something may go wrong.
type occasion int

const (
	inMove occasion = iota
	inObserve
	inApply
	inStore
	inPause
	inAny
)

// choice is what was chosen at a point, of so many.
type choice struct {
	at    point
	n, of int
}

func newChooser(t tape) chooser {
	return chooser{tape: t, chance: rand.New(rand.NewPCG(t.seed, 1)), swarm: map[occasion][]int{}}
}

// choose returns the index of what happens at a point, given how likely each is. In a
// random run some faults are likelier than usual, and others do not happen: those that
// need each other to do harm come together sooner.
func (c *chooser) choose(where occasion, weights ...int) int {
	n := 0
	switch {
	case c.tape.random:
		total := 0
		weights = c.skewed(where, weights)
		for _, w := range weights {
			total += w
		}
		for left := c.chance.IntN(total); left >= weights[n]; n++ {
			left -= weights[n]
		}
	case c.tape.picks[c.at] < len(weights):
		n = c.tape.picks[c.at]
	}
	c.made = append(c.made, choice{c.at, n, len(weights)})
	c.at.call++
	return n
}

// skewed returns the weights as they are in this run.
func (c *chooser) skewed(where occasion, weights []int) []int {
	if c.tape.seed%2 == 0 || where == inAny { // every other run is even
		return weights
	}
	factors := c.swarm[where]
	if factors == nil {
		factors = []int{1}
		for range weights[1:] {
			factors = append(factors, [...]int{0, 1, 1, 5}[c.chance.IntN(4)])
		}
		c.swarm[where] = factors
	}
	all := make([]int, len(weights))
	for i, w := range weights {
		all[i] = w * factors[i]
	}
	return all
}

// amount returns a number below n that depends only on the seed and the point.
func (c *chooser) amount(n int) int {
	return rand.New(rand.NewPCG(c.tape.seed, uint64(c.at.move)<<32+uint64(c.at.call))).IntN(n)
}

// picked returns what was chosen, without what is not a fault.
func (c *chooser) picked() map[point]int {
	picks := map[point]int{}
	for _, x := range c.made {
		if x.n != 0 {
			picks[x.at] = x.n
		}
	}
	return picks
}

// lastPick returns the point of the last fault that was picked.
func (c *chooser) lastPick() point {
	last := point{-1, 0}
	for at := range c.tape.picks {
		if at.compare(last) > 0 {
			last = at
		}
	}
	return last
}

// worlds is how many worlds get each fault at each point, if not all runs are made.
const worlds = 5

// everyFault makes the runs with each fault at each point, and with as many at a time
// as the options say. It returns how many of the options' Runs it has used, and the
// first run that failed, or nil.
func everyFault[S, W any, A Action](ctx context.Context, play func(tape) *play[S, W, A], o *TrialOptions) (made int, failed *play[S, W, A]) {
	for world := range uint64(worlds) {
		level := []map[point]int{{}}
		for depth := range max(o.Faults, 1) + 1 {
			runs := level
			if most := o.Runs / 3 / worlds; o.Faults == 0 && len(runs) > most {
				runs = nil
				for i := range most { // from all parts
					runs = append(runs, level[i*len(level)/most])
				}
			}
			level = nil
			for _, picks := range runs {
				if ctx.Err() != nil {
					return made, nil
				}
				p := play(tape{seed: o.Seed + world, picks: picks})
				if made++; p.broken != nil {
					return made, p
				}
				if depth < max(o.Faults, 1) {
					level = append(level, p.more()...)
				}
			}
		}
	}
	if o.Faults > 0 {
		return 0, nil
	}
	return made, nil
}

// more returns what may go wrong in addition, after the last fault.
func (c *chooser) more() (all []map[point]int) {
	last := c.lastPick()
	for _, x := range c.made {
		if x.at.compare(last) <= 0 {
			continue
		}
		for n := 1; n < x.of; n++ {
			picks := maps.Clone(c.tape.picks)
			picks[x.at] = n
			all = append(all, picks)
		}
	}
	return all
}

// shorten looks for a run that fails with fewer faults, in at most so many attempts.
func shorten[S, W any, A Action](ctx context.Context, p *play[S, W, A], play func(tape) *play[S, W, A]) *play[S, W, A] {
	attempts := 1000
	try := func(picks map[point]int) bool {
		attempts--
		q := play(tape{seed: p.tape.seed, picks: picks})
		if q.broken == nil {
			return false
		}
		p = q
		return true
	}
	if !try(p.picked()) {
		return p
	}
	for size := max(1, len(p.picked())/2); size > 0 && ctx.Err() == nil; {
		smaller := false
		points := slices.SortedFunc(maps.Keys(p.picked()), point.compare)
		for end := len(points); end > 0 && attempts > 0; end -= size {
			picks := p.picked()
			for _, at := range points[max(0, end-size):end] {
				delete(picks, at)
			}
			if len(picks) < len(p.picked()) && try(picks) {
				smaller = true
			}
		}
		if attempts <= 0 || size == 1 && !smaller {
			break
		}
		if !smaller || size > 1 {
			size = max(1, size/2)
		}
	}
	return p
}
