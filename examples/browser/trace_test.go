package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// trace is what the browser records about its work while something is done in it.
type trace struct {
	mu     sync.Mutex
	events []traced
	whole  chan struct{}
}

// traced is an event of a trace; times are in microseconds.
type traced struct {
	Name  string  `json:"name"`
	Phase string  `json:"ph"`
	Begin float64 `json:"ts"`
	Wall  float64 `json:"dur"`  // how long it took
	CPU   float64 `json:"tdur"` // the processor time it took
	PID   int     `json:"pid"`
	TID   int     `json:"tid"`
	Args  struct {
		Name string `json:"name"`
	} `json:"args"`
}

// task is one task of a page's main thread.
type task struct {
	wall, cpu time.Duration
	parts     string // what took most of it
}

// traced records what the main thread of a page does during do, and returns its tasks, those
// with the most processor time first.
func (p *tab) traced(do func()) []task {
	p.Helper()
	r := &trace{whole: make(chan struct{})}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *tracing.EventDataCollected:
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, raw := range e.Value {
				var one traced
				if json.Unmarshal(raw, &one) == nil {
					r.events = append(r.events, one)
				}
			}
		case *tracing.EventTracingComplete:
			close(r.whole)
		}
	})
	p.run(tracing.Start().WithTraceConfig(&tracing.TraceConfig{IncludedCategories: []string{"devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"}}))
	do()
	p.run(tracing.End())
	select {
	case <-r.whole:
	case <-p.ctx.Done():
		p.Fatal("the trace does not end")
	}
	return r.tasks()
}

// tasks returns the tasks of the thread that lays out the largest page.
func (r *trace) tasks() []task {
	r.mu.Lock()
	defer r.mu.Unlock()
	type thread struct{ pid, tid int }
	main := map[thread]bool{}
	for _, e := range r.events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			main[thread{e.PID, e.TID}] = true
		}
	}
	var all []traced
	for _, e := range r.events {
		if e.Phase == "X" && main[thread{e.PID, e.TID}] {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b traced) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(b.Wall, a.Wall)) })
	var list []task
	for i := 0; i < len(all); i++ {
		if !strings.HasSuffix(all[i].Name, "RunTask") {
			continue
		}
		outer := all[i]
		own := map[string]float64{}
		var open []traced
		for ; i+1 < len(all) && all[i+1].Begin < outer.Begin+outer.Wall; i++ {
			e := all[i+1]
			if strings.HasSuffix(e.Name, "RunTask") {
				continue
			}
			for len(open) > 0 && e.Begin >= open[len(open)-1].Begin+open[len(open)-1].Wall {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				own[open[len(open)-1].Name] -= e.CPU
			}
			own[e.Name] += e.CPU
			open = append(open, e)
		}
		list = append(list, task{span(outer.Wall), span(outer.CPU), largest(own)})
	}
	slices.SortStableFunc(list, func(a, b task) int { return cmp.Compare(b.cpu, a.cpu) })
	return list
}

// largest names what took the most time.
func largest(own map[string]float64) string {
	var names []string
	for name, took := range own {
		if took > 2000 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(own[b], own[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, span(own[name]).Milliseconds())
	}
	return strings.Join(names[:min(5, len(names))], ", ")
}

func span(us float64) time.Duration { return time.Duration(us) * time.Microsecond }

// told summarizes tasks: the longest of them, and how many are over 50 ms.
func told(tasks []task) string {
	var b strings.Builder
	over := 0
	for _, t := range tasks {
		if t.cpu > 50*time.Millisecond {
			over++
		}
	}
	fmt.Fprintf(&b, "%d tasks, %d over 50 ms", len(tasks), over)
	for _, t := range tasks[:min(6, len(tasks))] {
		fmt.Fprintf(&b, "\n  %4d ms of the processor, %4d ms by the clock: %s", t.cpu.Milliseconds(), t.wall.Milliseconds(), t.parts)
	}
	return b.String()
}
