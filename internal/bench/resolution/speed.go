package resolution

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/solver/olm"
)

// Tasks returns what is measured in a process of its own; the argument is the
// directory of a catalog.
func Tasks() []cost.Task {
	return []cost.Task{
		{Name: "golden", Run: answerGolden},
		{Name: "fifty", Run: func(ctx context.Context, dir string) error {
			b, err := newBoard(ctx, dir)
			if err != nil {
				return err
			}
			req, err := fifty(ctx, b.ours, b.sources[0].Catalog)
			if err != nil {
				return err
			}
			_, err = b.ours.Resolve(ctx, req)
			return err
		}},
		{Name: "OLM fifty", Run: func(ctx context.Context, dir string) error {
			b, err := newBoard(ctx, dir)
			if err != nil {
				return err
			}
			req, err := fifty(ctx, b.ours, b.sources[0].Catalog)
			if err != nil {
				return err
			}
			p, err := newPeer(globalNamespace, b.sources)
			if err != nil {
				return err
			}
			resolve, err := p.prepare(req)
			if err == nil {
				_, err = resolve()
			}
			return err
		}},
	}
}

// board is a catalog and both resolvers over it.
type board struct {
	sources []olm.Source
	ours    *olm.Resolver
	peer    *peer // created on first use
}

func newBoard(ctx context.Context, dir string) (*board, error) {
	sources, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	r, err := olm.NewResolver(sources, nil)
	return &board{sources: sources, ours: r}, err
}

// spread is how long the requests of a kind take, each the best of several runs.
type spread []time.Duration

func (s spread) at(percent int) time.Duration {
	slices.Sort(s)
	return s[min(len(s)-1, len(s)*percent/100)]
}

func (s spread) String() string {
	return fmt.Sprintf("%s, %s", cost.Duration(s.at(50)), cost.Duration(s.at(99)))
}

// best returns the shortest wall-clock time of several runs: that of the one least
// affected by other load on the machine.
func best(times int, run func() error) (time.Duration, error) {
	shortest := time.Duration(0)
	for i := range times {
		start := time.Now()
		err := run()
		if took := time.Since(start); i == 0 || took < shortest {
			shortest = took
		}
		if err != nil && !errors.As(err, new(*olm.UnsatError)) && !unsatisfiable(err) {
			return 0, err
		}
	}
	return shortest, nil
}

// figures is what requests of one kind cost.
type figures struct {
	asked        int    // how often both were asked, and their answers compared
	first, again spread // ours, by a new resolver and by one that was used before
	theirs       spread
	ours, peer   cost.Cost // of one request, on average; ours by a resolver that was used before
}

// requests converts cases to requests.
func (b *board) requests(cases []goldenCase) ([]*olm.Request, error) {
	var reqs []*olm.Request
	for i := range cases {
		req, err := b.ours.Request(taskNamespace, &cases[i].Case)
		if err != nil {
			return nil, err
		}
		reqs = append(reqs, req)
	}
	return reqs, nil
}

// compare resolves every request with ours and every step-th with OLM's, and measures
// both. An error says that our answer is the worse one.
func (b *board) compare(ctx context.Context, reqs []*olm.Request, step, times int) (*figures, error) {
	f := &figures{}
	for i, req := range reqs {
		first, err := best(times, func() error {
			fresh, err := olm.NewResolver(b.sources, nil)
			if err == nil {
				_, err = fresh.Resolve(ctx, req)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		again, err := best(times+2, func() error { _, err := b.ours.Resolve(ctx, req); return err })
		if err != nil {
			return nil, err
		}
		f.first, f.again = append(f.first, first), append(f.again, again)
		if i%step == 0 {
			if err := b.ask(ctx, f, req); err != nil {
				return nil, err
			}
		}
	}
	f.peer.Bytes /= uint64(max(1, f.asked))
	f.peer.Allocs /= uint64(max(1, f.asked))
	i := 0
	var err error
	f.ours, err = cost.Measure(func() error {
		_, err := b.ours.Resolve(ctx, reqs[i%len(reqs)])
		i++
		if errors.As(err, new(*olm.UnsatError)) {
			err = nil
		}
		return err
	})
	return f, err
}

// ask lets OLM's resolver answer a request, compares the answers, and measures it.
func (b *board) ask(ctx context.Context, f *figures, req *olm.Request) error {
	if b.peer == nil {
		var err error
		if b.peer, err = newPeer(globalNamespace, b.sources); err != nil {
			return err
		}
	}
	t := &Task{Global: globalNamespace, Sources: b.sources, Request: req}
	resolve, err := b.peer.prepare(req)
	if err != nil {
		return err
	}
	if err := t.agree(ctx, b.ours, resolve); err != nil {
		return err
	}
	var took time.Duration
	used, err := cost.Measure(func() error {
		took, err = best(1, func() error { _, err := resolve(); return err })
		return err
	})
	if err != nil {
		return err
	}
	f.asked++
	f.theirs = append(f.theirs, min(took, used.Time))
	f.peer.Bytes += used.Bytes
	f.peer.Allocs += used.Allocs
	return nil
}

// ReportSpeed compares both resolvers on the real catalog, and writes what they cost
// as Markdown tables. If the data is absent, the report says so.
func ReportSpeed(ctx context.Context, w io.Writer) error {
	dir, err := unpacked()
	if errors.Is(err, os.ErrNotExist) {
		_, err = fmt.Fprintf(w, "speed: skipped: %v\n\n", err)
		return err
	}
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := newBoard(ctx, dir)
	if err != nil {
		return err
	}
	cost.Head(w, "real catalog", "requests", "fairlead, first asked: median, 99th percentile", "asked again", "bytes, allocations",
		"OLM, every so many-th: median, 99th percentile", "bytes, allocations", "OLM takes, at the median")
	for _, kind := range []struct {
		name, kind  string
		step, times int
	}{{"one subscription, nothing installed", "fresh", 4, 3}, {"one subscription, an update", "upgrade", 97, 3}, {"several subscriptions", "set", 6, 3}} {
		cases, err := goldenCases(kind.kind)
		if err != nil {
			return err
		}
		reqs, err := b.requests(cases)
		if err != nil {
			return err
		}
		if err := b.row(ctx, w, kind.name, reqs, kind.step, kind.times); err != nil {
			return err
		}
	}
	req, err := fifty(ctx, b.ours, b.sources[0].Catalog)
	if err != nil {
		return err
	}
	if err := b.row(ctx, w, "fifty subscriptions", []*olm.Request{req}, 1, 9); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return processes(ctx, w, dir)
}

func (b *board) row(ctx context.Context, w io.Writer, name string, reqs []*olm.Request, step, times int) error {
	f, err := b.compare(ctx, reqs, step, times)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	cost.Row(w, name, fmt.Sprint(len(reqs)), f.first.String(), f.again.String(), fmt.Sprintf("%s, %d", cost.Size(f.ours.Bytes), f.ours.Allocs),
		fmt.Sprintf("every %d.: %s", step, f.theirs), fmt.Sprintf("%s, %d", cost.Size(f.peer.Bytes), f.peer.Allocs),
		fmt.Sprintf("%s x first, %s x again", cost.Ratio(f.theirs.at(50), f.first.at(50)), cost.Ratio(f.theirs.at(50), f.again.at(50))))
	return nil
}

// processes writes what whole processes cost.
func processes(ctx context.Context, w io.Writer, dir string) error {
	cost.Head(w, "a process of its own", "processor time", "on the clock", "peak memory")
	names := []string{"open", "golden", "fifty", "OLM fifty"}
	costs, err := cost.RunAll(ctx, 5, dir, names...)
	if err != nil {
		return err
	}
	for i, what := range []string{
		"fairlead: open and index the catalog",
		"fairlead: open, answer the golden cases, compare",
		"fairlead: open, resolve fifty subscriptions",
		"OLM, its entries made from our catalog: resolve fifty subscriptions",
	} {
		cost.Row(w, what, cost.Duration(costs[i].CPU), cost.Duration(costs[i].Clock), cost.Size(costs[i].Peak))
	}
	_, err = fmt.Fprintln(w)
	return err
}
