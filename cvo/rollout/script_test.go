package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/golden"
)

const pool = "worker"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scenarios of testdata. The commands:
//
//	new [NAME] [target=CONFIG] [image=IMAGE] [max=N|P%] [paused] [last=NODE] [build=(NAME,STATE[,IMAGE])]
//	                          a new pool; the input lists its nodes, a line each:
//	                          NAME [current=C] [desired=C] [state=S] [reason=R]
//	                          [image=I] [desired-image=I] [zone=Z] [age=HOURS]
//	                          [cordoned] [notready] [diskpressure] [nonetwork]
//	                          [drain=DURATION] [update=DURATION] [broken|fixed]
//	set ...                   changes the pool, as new does
//	peers [first] [target=CONFIG] [paused]
//	                          the nodes of the other pool, as in the list above,
//	                          and that pool if it is to be through first
//	node NAME ...             changes a node, as in the list above; "ok" takes
//	                          back what cordoned and others did
//	choose                    what Choose says
//	status                    what Status says
//	taints                    the taints of nodes, and what they were told
//	run [for=DURATION]        makes passes until nothing changes, and then
//	                          whenever a node has changed until the time is
//	                          over; prints actions, blocks and what is down
func TestScripts(t *testing.T) {
	w := golden.NewWords(t, "testdata/words/rollout.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		s := &script{t: t, words: w}
		s.reset(pool)
		return s.command
	})
}

type script struct {
	t       *testing.T
	words   *golden.Words
	pool    string
	clock   *fairlead.ManualClock
	backend *rollout.MemBackend
	runner  *rollout.Runner
	drain   map[string]time.Duration
	update  map[string]time.Duration
	broken  map[string]bool
	out     strings.Builder
}

func (s *script) reset(name string) {
	s.pool, s.clock = name, new(fairlead.ManualClock)
	s.clock.Set(start)
	s.drain, s.update, s.broken = map[string]time.Duration{}, map[string]time.Duration{}, map[string]bool{}
	s.backend = &rollout.MemBackend{
		Clock:     s.clock,
		DrainTime: func(node string) time.Duration { return s.drain[node] },
		UpdateTime: func(node, _ string) (time.Duration, error) {
			if s.broken[node] {
				return s.update[node], errors.New("the disk is read-only")
			}
			return s.update[node], nil
		},
		Changed: func(_ string, a rollout.Action) {
			if _, ok := a.(rollout.Report); !ok {
				fmt.Fprintf(&s.out, "%s %s\n", s.time(), a.String())
			}
		},
	}
	s.runner = newRunner(s.t, s.backend, nil, &fairlead.RunnerOptions{Clock: s.clock})
}

// time is how long the script has run.
func (s *script) time() string { return fmt.Sprintf("%7s", s.clock.Now().Sub(start)) }

func (s *script) edit(f func(w *rollout.World)) {
	if err := s.backend.Edit(s.pool, func(w *rollout.World) error { f(w); return nil }); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) command(c *golden.Command) string {
	s.out.Reset()
	switch c.Name {
	case "new":
		name := pool
		if words := c.Words(); len(words) > 0 && words[0] != "paused" {
			name = words[0]
		}
		s.reset(name)
		s.edit(func(w *rollout.World) {
			s.set(w, c)
			w.Nodes = s.nodes(c.Input)
		})
	case "peers":
		s.edit(func(w *rollout.World) {
			w.Peers, w.PeerPool = s.nodes(c.Input), nil
			if c.Has("first") {
				w.PeerPool = new(rollout.Pool)
				w.PeerPool.Spec.Configuration.Name, w.PeerPool.Spec.Paused = c.Value("target"), c.Has("paused")
			}
		})
	case "set":
		s.edit(func(w *rollout.World) { s.set(w, c) })
	case "node":
		s.edit(func(w *rollout.World) {
			i := slices.IndexFunc(w.Nodes, func(n rollout.Node) bool { return n.Name == c.Args[0].Key })
			var words []string
			for _, a := range c.Args[1:] {
				words = append(words, strings.Join(append([]string{a.Key}, a.Values...), "="))
			}
			s.change(&w.Nodes[i], words)
		})
	case "choose":
		s.choose()
	case "status":
		s.status()
	case "taints":
		for _, n := range s.backend.World(s.pool).Nodes {
			fmt.Fprintf(&s.out, "%s:", n.Name)
			for _, t := range n.Spec.Taints {
				fmt.Fprintf(&s.out, " %s", t.Key)
			}
			fmt.Fprintf(&s.out, "; desired %s image %s\n", n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationDesiredImage])
		}
	case "run":
		limit, err := time.ParseDuration("0s" + c.Value("for"))
		if err != nil {
			return err.Error()
		}
		s.run(limit)
	default:
		s.t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
	}
	if s.out.Len() == 0 {
		return "ok"
	}
	return s.out.String()
}

// nodes makes nodes of a list.
func (s *script) nodes(text string) []rollout.Node {
	var list []rollout.Node
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		n := rollout.Node{ObjectMeta: rollout.ObjectMeta{
			Name: words[0], Labels: map[string]string{}, CreationTimestamp: start.Add(-1000 * time.Hour),
			Annotations: map[string]string{rollout.AnnotationCurrent: "v0", rollout.AnnotationDesired: "v0", rollout.AnnotationState: rollout.StateDone},
		}}
		s.change(&n, words[1:])
		list = append(list, n)
	}
	return list
}

func (s *script) set(w *rollout.World, c *golden.Command) {
	if c.Has("target") {
		w.Pool.Spec.Configuration.Name = c.Value("target")
	}
	if c.Has("image") {
		w.Pool.Spec.Configuration.Image = c.Value("image")
	}
	if c.Has("last") {
		w.Last = c.Value("last")
	}
	w.Pool.Spec.Paused = c.Has("paused")
	if v := append(c.Values("build"), ""); len(v) > 2 {
		w.Build = &rollout.Build{Name: v[0], State: rollout.BuildState(v[1]), Image: v[2]}
	}
	if c.Has("max") {
		v := rollout.IntOrString{Text: strings.Join(c.Values("max"), " ")}
		if text, ok := strings.CutPrefix(v.Text, "text:"); ok {
			v.Text = text
		} else if n, err := strconv.Atoi(v.Text); err == nil {
			v = rollout.IntOrString{Int: n}
		}
		w.Pool.Spec.MaxUnavailable = &v
	}
}

// change does to a node what words say.
func (s *script) change(n *rollout.Node, words []string) {
	condition := func(kind string, status fairlead.ConditionStatus) {
		n.Status.Conditions = append(n.Status.Conditions, fairlead.NodeCondition{Type: kind, Status: status})
	}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "current":
			n.Annotations[rollout.AnnotationCurrent] = value
		case "desired":
			n.Annotations[rollout.AnnotationDesired] = value
		case "state":
			n.Annotations[rollout.AnnotationState] = value
		case "reason":
			n.Annotations[rollout.AnnotationReason] = value
		case "image":
			n.Annotations[rollout.AnnotationCurrentImage] = value
		case "desired-image":
			n.Annotations[rollout.AnnotationDesiredImage] = value
		case "both":
			n.Annotations[rollout.AnnotationCurrent], n.Annotations[rollout.AnnotationDesired] = value, value
		case "images":
			n.Annotations[rollout.AnnotationCurrentImage], n.Annotations[rollout.AnnotationDesiredImage] = value, value
		case "nodesired":
			delete(n.Annotations, rollout.AnnotationDesired)
		case "nocurrent":
			delete(n.Annotations, rollout.AnnotationCurrent)
		case "note":
			n.Annotations["test"] = value
		case "tainted":
			n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: rollout.TaintUpdate, Effect: fairlead.PreferNoSchedule})
		case "dummy":
			n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: "dummy", Effect: fairlead.PreferNoSchedule})
		case "zone":
			n.Labels[rollout.LabelZone] = value
		case "age":
			hours, _ := strconv.Atoi(value)
			n.CreationTimestamp = start.Add(-time.Duration(hours) * time.Hour)
		case "cordoned":
			n.Spec.Unschedulable = true
		case "notready":
			condition("Ready", fairlead.ConditionUnknown)
		case "ready":
			condition("Ready", fairlead.ConditionTrue)
		case "diskpressure":
			condition("DiskPressure", fairlead.ConditionTrue)
		case "nodiskpressure":
			condition("DiskPressure", fairlead.ConditionFalse)
		case "nonetwork":
			condition("NetworkUnavailable", fairlead.ConditionTrue)
		case "ok":
			n.Spec.Unschedulable, n.Status.Conditions = false, nil
		case "drain":
			s.drain[n.Name], _ = time.ParseDuration(value)
		case "update":
			s.update[n.Name], _ = time.ParseDuration(value)
		case "broken":
			s.broken[n.Name] = true
		case "fixed":
			delete(s.broken, n.Name)
		default:
			s.t.Fatalf("no such word: %s", word)
		}
	}
}

func (s *script) choose() {
	c, err := rollout.Choose(s.backend.World(s.pool), nil)
	if err != nil {
		fmt.Fprintln(&s.out, "error"+s.words.Data("Choose error", err.Error()))
		return
	}
	fmt.Fprintf(&s.out, "max %d, capacity %d\n", c.MaxUnavailable, c.Capacity)
	for _, l := range []struct {
		name  string
		nodes []string
	}{{"candidates", c.Candidates}, {"waiting", c.Waiting}, {"unavailable", c.Unavailable}, {"failing", c.Failing}, {"held", c.Held}, {"peers", c.Peers}} {
		if len(l.nodes) > 0 {
			fmt.Fprintf(&s.out, "%s: %s\n", l.name, strings.Join(l.nodes, " "))
		}
	}
}

func (s *script) status() {
	st := rollout.Status(s.backend.World(s.pool), s.clock.Now())
	fmt.Fprintf(&s.out, "machines %d, updated %d, ready %d, unavailable %d, degraded %d\n",
		st.MachineCount, st.UpdatedMachineCount, st.ReadyMachineCount, st.UnavailableMachineCount, st.DegradedMachineCount)
	for _, c := range st.Conditions {
		fmt.Fprintln(&s.out, strings.TrimSpace(fmt.Sprintf("%s=%s%s%s", c.Type, c.Status, s.words.Data(c.Type+" reason", c.Reason), s.words.Data(c.Type+" "+string(c.Status), c.Message))))
	}
}

// run makes passes for some time.
func (s *script) run(limit time.Duration) {
	end := s.clock.Now().Add(limit)
	for {
		d := s.settle()
		next := end
		for _, at := range []time.Time{d.Wake, s.next()} {
			if at.After(s.clock.Now()) && at.Before(next) {
				next = at
			}
		}
		if !next.After(s.clock.Now()) {
			s.show(d)
			return
		}
		s.clock.Set(next)
	}
}

func (s *script) next() time.Time {
	at, _ := s.backend.Next()
	return at
}

// settle makes passes until there is nothing more to do now.
func (s *script) settle() rollout.Decision {
	for range 100 {
		d, err := s.runner.Reconcile(context.Background(), s.pool)
		if err != nil {
			fmt.Fprintf(&s.out, "%s error%s\n", s.time(), s.words.Data("error", err.Error()))
			return d
		}
		if len(d.Actions) == 0 {
			return d
		}
	}
	s.t.Fatal("it does not come to rest")
	return rollout.Decision{}
}

func (s *script) show(d rollout.Decision) {
	for _, b := range d.Blocked {
		fmt.Fprintf(&s.out, "%s %s\n", s.time(), s.words.Block(b, start))
	}
	w := s.backend.World(s.pool)
	var down []string
	for i := range w.Nodes {
		if rollout.Unavailable(&w.Nodes[i]) {
			down = append(down, w.Nodes[i].Name)
		}
	}
	fmt.Fprintln(&s.out, strings.TrimRight(s.time()+" down: "+strings.Join(down, " "), " "))
}
