package drain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/object"
)

// TestDrainScripts runs the drains of testdata/drain. Each file goes on with one
// cluster:
//
//	cluster        from here on a new one; each line of the input is one of
//	    node NAME [cordoned] [ready=True|False|Unknown] [stopped]
//	    pod NAME [ns=NS] [node=NAME] [uid=UID|-] [rs=|ds=|job=|sts=NAME] [emptydir]
//	        [mirror] [phase=PHASE] [notready] [grace=SECONDS] [deleting=DURATION]
//	        [finalizer=NAME] [labels=K:V,K:V]
//	    budget NAME [ns=NS] [min=N] [max=N] [app=VALUE|all] [always] [stale]
//	        [allowed=N]      computed as the disruption controller does, but for allowed
//	    replicas NAME N      what a controller is to have
//	    namespace NAME [labels=K:V]
//	    daemonsets [NAME...] all that there are, from now on known
//	    machine K:V...       labels of the machine
//	policy         JSON of the drain policy from here on; empty is the default
//	hide budgets   the drain does not see budgets from here on
//	fail VERB/NAME CODE TEXT   attempts at that pod fail from here on; ok ends it
//	filters        prints what becomes of each pod, and all that filters say of it
//	step           one decision, printed and not carried out
//	run [for=D]    decides and carries out until the drain is done or the time is over
//	edit           further lines as for cluster, changing what is there
func TestDrainScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words/drain.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		s := &drainScript{t: t, words: words, c: newCluster()}
		return s.command
	})
}

type drainScript struct {
	t      *testing.T
	words  *golden.Words
	c      *testCluster
	policy Policy
	state  Progress
	out    strings.Builder
}

func (s *drainScript) command(c *golden.Command) string {
	s.out.Reset()
	switch c.Name {
	case "cluster", "edit":
		if c.Name == "cluster" {
			s.c, s.state = newCluster(), Progress{}
		}
		for line := range strings.Lines(c.Input) {
			if err := s.c.line(strings.TrimSpace(line)); err != nil {
				return c.Pos + ": " + err.Error()
			}
		}
		s.c.control()
		return ""
	case "policy":
		s.policy = Policy{}
		if strings.TrimSpace(c.Input) != "" {
			if err := json.Unmarshal([]byte(c.Input), &s.policy); err != nil {
				return err.Error()
			}
		}
		if err := s.policy.Check(); err != nil {
			return err.Error()
		}
	case "hide":
		s.c.hidden = true
	case "fail":
		args := c.Args
		code, _ := strconv.Atoi(args[1].Key)
		s.c.failing[args[0].Key] = fairlead.Outcome{Failed: true, Code: code, Message: strings.TrimSpace(c.Input)}
	case "ok":
		clear(s.c.failing)
	case "filters":
		s.filters()
	case "step":
		s.step(false)
	case "run":
		limit := 10 * time.Minute
		if v := c.Value("for"); v != "" {
			limit, _ = time.ParseDuration(v)
		}
		s.run(limit)
	default:
		return "there is no command " + c.Name
	}
	return strings.TrimRight(s.out.String(), "\n")
}

func (s *drainScript) filters() {
	w := s.c.world()
	f := newFilter(&s.policy, &w, s.c.labels, s.c.now)
	for i := range w.Pods {
		g := f.judge(&w.Pods[i])
		fmt.Fprintf(&s.out, "%s: %s", w.Pods[i].Name, g.fate)
		if g.order != 0 {
			fmt.Fprintf(&s.out, " order %d", g.order)
		}
		s.out.WriteByte('\n')
		for _, r := range g.reasons() {
			fmt.Fprintf(&s.out, "  %s %s%s\n", r.Filter, r.Fate, s.words.Data("filter "+string(r.Filter)+" "+string(r.Fate), r.Text))
		}
	}
}

// step decides once; the state goes through JSON on the way.
func (s *drainScript) step(apply bool) (done bool) {
	data, err := json.Marshal(s.state)
	if err != nil {
		s.t.Fatal(err)
	}
	s.state = Progress{}
	if err := json.Unmarshal(data, &s.state); err != nil {
		s.t.Fatal(err)
	}
	w := s.c.world()
	d := Pods(s.state, &w, s.c.labels, s.c.now, &s.policy)
	at := s.c.now.Sub(drainStart)
	for _, a := range d.Actions {
		fmt.Fprintf(&s.out, "%v %s\n", at, s.act(a))
	}
	for _, x := range d.Progress.Waits {
		if apply && told(&x, s.state.Waits) {
			continue
		}
		fmt.Fprintf(&s.out, "%v wait: %s\n", at, strings.TrimPrefix(s.words.Block(Words(x), drainStart), x.Subject+": "))
	}
	if d.Failure != "" && !apply {
		fmt.Fprintf(&s.out, "failure:%s\n", s.words.Data("failure", d.Failure))
	}
	if d.Done {
		fmt.Fprintf(&s.out, "%v done\n", at)
	} else if !apply {
		fmt.Fprintf(&s.out, "wake: %v\n", d.Wake.Sub(s.c.now))
	}
	if apply {
		s.state = d.Progress
		s.c.wake = d.Wake
		for _, a := range d.Actions {
			s.c.apply(a)
		}
	}
	return d.Done
}

// told reports whether the wait has been told of before.
func told(w *fairlead.Block, waits []fairlead.Block) bool {
	return slices.ContainsFunc(waits, func(o fairlead.Block) bool {
		return o.Reason == w.Reason && o.Name == w.Name && o.Owner == w.Owner && o.Detail == w.Detail
	})
}

// run drains until it is done or the time is over.
func (s *drainScript) run(limit time.Duration) {
	end := s.c.now.Add(limit)
	for !s.step(true) {
		next := s.c.next()
		if next.IsZero() || next.After(end) {
			s.c.now = end
			fmt.Fprintf(&s.out, "%v over\n", end.Sub(drainStart))
			return
		}
		s.c.to(next)
	}
}

// act writes an action in a line.
func (s *drainScript) act(a Action) string {
	grace := func(g *int64) string {
		if g == nil {
			return ""
		}
		return fmt.Sprintf(" grace %d", *g)
	}
	switch a := a.(type) {
	case Cordon:
		return "cordon " + a.Node
	case Evict:
		return "evict " + a.Namespace + "/" + a.Name + grace(a.GracePeriodSeconds)
	case DeletePod:
		return "delete " + a.Namespace + "/" + a.Name + grace(a.GracePeriodSeconds) + s.words.Data("delete", a.Why)
	}
	return fmt.Sprint(a)
}

var drainStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// judgeNow is what the eviction API of the cluster answers.
func (c *testCluster) judgeNow(p *Pod) (object.EvictionVerdict, *PodDisruptionBudget) {
	l := disruptions{budgets: c.budgets}
	verdict, at := l.judge(p, nil)
	if len(at) == 0 {
		return verdict, nil
	}
	return verdict, &c.budgets[at[0]]
}
