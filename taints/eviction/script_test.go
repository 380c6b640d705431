package eviction_test

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
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/taints/eviction"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestEvictScripts runs the scenarios of testdata/scripts. The commands:
//
//	do                          carries out the commands of the input, one a line
//	policy [match=M] [attempts=N] [budgets[=TIMEOUT]] [finished]
//	       [inflight=N] [lifecycle] [FIELD=NUMBER of the lifecycle...]
//	                            a new, empty cluster under this policy
//	node NAME [zone=Z] [uid=U] [count=N] [exclude]
//	                            a node that is ready; N of them with numbers
//	gone NODE                   the node object is deleted
//	taint NODE KEY[=VALUE]:EFFECT [added=DURATION]
//	                            added is relative to now; without it there is none
//	untaint NODE KEY:EFFECT
//	pod NAME node=NODE [uid=U] [phase=P] [bound=DURATION] [grace=SECONDS]
//	    [tolerate=(KEY:SECONDS,KEY,KEY=VALUE:SECONDS,...)] [app=A] [owner=KIND]
//	    [select=ZONE] [ready]
//	                            a pod, or another in its place, or changed
//	delete NAME                 the pod is gone
//	terminate NAME              somebody else deletes the pod
//	budget NAME app=A min=N     a disruption budget
//	condition NODE TYPE=STATUS  a condition of the node
//	silent NODE... | reports NODE... | unready NODE...
//	                            what its agent does from here on, every 10 s
//	fail [KEY]                  actions whose keys begin so fail from here on
//	restart [forget]            another runner takes over, without its state
//	jump DURATION               the clock is set
//	run [for=DURATION] [quiet]  makes passes until nothing changes, then until the
//	                            time is over; prints actions, and what is blocked
//	show [NODE]                 prints nodes and pods
func TestEvictScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/scripts/*.txt", func(t *testing.T) golden.Handler {
		s := &script{t: t, words: words}
		s.reset(nil)
		return s.command
	})
}

type script struct {
	t       *testing.T
	words   *golden.Words
	policy  *eviction.Policy
	clock   *fairlead.ManualClock
	backend *eviction.MemBackend
	store   *fairlead.MemStore
	runner  *eviction.Runner
	nodes   []string          // in order of appearance
	agents  map[string]string // what the agents of nodes do
	beat    time.Time         // when they report next
	uids    int
	failing []string
	out     strings.Builder
}

func (s *script) reset(p *eviction.Policy) {
	s.policy, s.clock, s.store = p, new(fairlead.ManualClock), new(fairlead.MemStore)
	s.clock.Set(start)
	s.backend = &eviction.MemBackend{Clock: s.clock}
	s.nodes, s.agents, s.uids, s.failing = nil, map[string]string{}, 0, nil
	s.beat = start.Add(10 * time.Second)
	s.restart()
}

func (s *script) restart() {
	r, err := eviction.NewRunner(failingBackend{s.backend, &s.failing}, s.policy, &fairlead.RunnerOptions{Clock: s.clock, Store: s.store})
	if err != nil {
		s.t.Fatal(err)
	}
	s.runner = r
}

type failingBackend struct {
	*eviction.MemBackend
	failing *[]string
}

func (b failingBackend) Apply(ctx context.Context, node string, a eviction.Action) error {
	for _, f := range *b.failing {
		if strings.HasPrefix(a.String(), f) {
			return errors.New("the server is on strike")
		}
	}
	return b.MemBackend.Apply(ctx, node, a)
}

func (s *script) command(c *golden.Command) string {
	s.out.Reset()
	if c.Name == "do" {
		for line := range strings.Lines(c.Input) {
			s.do(parseLine(line, c.Pos))
		}
	} else {
		s.do(c)
	}
	if s.out.Len() == 0 {
		return "ok"
	}
	return s.out.String()
}

func (s *script) do(c *golden.Command) {
	f := s.commands()[c.Name]
	if f == nil {
		s.t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
	}
	f(c)
}

// parseLine reads a command without input, whose values hold no spaces.
func parseLine(line, pos string) *golden.Command {
	words := strings.Fields(line)
	c := &golden.Command{Name: words[0], Pos: pos}
	for _, w := range words[1:] {
		key, value, found := strings.Cut(w, "=")
		a := golden.Arg{Key: key}
		if found {
			a.Values = strings.Split(strings.Trim(value, "()"), ",")
		}
		c.Args = append(c.Args, a)
	}
	return c
}

func (s *script) commands() map[string]func(c *golden.Command) {
	return map[string]func(c *golden.Command){
		"policy": s.newPolicy, "node": s.newNode, "pod": s.newPod, "taint": s.taint, "untaint": s.taint,
		"budget": s.budget, "run": s.run, "show": s.show, "condition": s.condition,
		"gone":   func(c *golden.Command) { s.backend.DeleteNode(c.Args[0].Key) },
		"delete": func(c *golden.Command) { s.backend.DeletePod("ns", c.Args[0].Key) },
		"terminate": func(c *golden.Command) {
			p, _ := s.backend.Pod("ns", c.Args[0].Key)
			end := s.clock.Now().Add(time.Hour)
			p.DeletionTimestamp = &end
			s.backend.PutPod(p)
		},
		"fail": func(c *golden.Command) {
			s.failing = nil
			if len(c.Args) > 0 {
				s.failing = []string{strings.Join(c.Words(), " ")}
			}
		},
		"restart": func(c *golden.Command) {
			if c.Has("forget") {
				s.store = new(fairlead.MemStore)
			}
			s.restart()
		},
		"jump":    func(c *golden.Command) { s.clock.Set(s.clock.Now().Add(s.duration(c.Args[0].Key))) },
		"silent":  s.agent,
		"reports": s.agent,
		"unready": s.agent,
	}
}

func (s *script) duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *script) number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *script) newPolicy(c *golden.Command) {
	p := new(eviction.Policy)
	for _, a := range c.Args {
		value := ""
		if len(a.Values) > 0 {
			value = a.Values[0]
		}
		switch a.Key {
		case "match":
			p.Match = eviction.Match(value)
		case "attempts":
			p.MaxAttempts = int(s.number(value))
		case "inflight":
			p.MaxInFlight = int(s.number(value))
		case "finished":
			p.EvictFinished = true
		case "budgets":
			p.RespectBudgets, p.BudgetTimeout = true, s.duration(value)
		case "lifecycle":
			p.NodeLifecycle = new(eviction.NodeLifecycle)
		case "rate":
			p.NodeLifecycle.NodeEvictionRate = s.number(value)
		case "secondary":
			p.NodeLifecycle.SecondaryNodeEvictionRate = s.number(value)
		case "full":
			f := s.number(value)
			p.NodeLifecycle.FullDisruptionRate = &f
		case "recovery":
			p.NodeLifecycle.RecoveryThreshold = s.number(value)
		case "size":
			p.NodeLifecycle.SizeOf = eviction.SizeOf(value)
		case "large":
			p.NodeLifecycle.LargeClusterSize = int(s.number(value))
		default:
			s.t.Fatalf("%s: what is %s?", c.Pos, a.Key)
		}
	}
	if err := p.Check(); err != nil {
		fmt.Fprintln(&s.out, err)
		return
	}
	s.reset(p)
}

func (s *script) newNode(c *golden.Command) {
	count, name := 1, c.Args[0].Key
	if v := c.Value("count"); v != "" {
		count = int(s.number(v))
	}
	for i := range count {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: c.Value("uid"), CreationTimestamp: s.clock.Now()}}
		if c.Has("count") {
			n.Name = fmt.Sprintf("%s%d", name, i+1)
		}
		if n.UID == "" {
			n.UID = "uid-" + n.Name
		}
		n.Labels = map[string]string{}
		if z := c.Value("zone"); z != "" {
			n.Labels[eviction.LabelZone] = z
		}
		if c.Has("exclude") {
			n.Labels[eviction.LabelExcludeDisruption] = ""
		}
		if !slices.Contains(s.nodes, n.Name) {
			s.nodes = append(s.nodes, n.Name)
		}
		s.backend.PutNode(n)
		if !c.Has("new") {
			s.agents[n.Name] = "reports"
			s.backend.Report(n.Name, true)
		}
	}
}

func (s *script) taint(c *golden.Command) {
	n, ok := s.backend.Node(c.Args[0].Key)
	if !ok {
		s.t.Fatalf("%s: there is no such node", c.Pos)
	}
	text, value := c.Args[1].Key, ""
	if len(c.Args[1].Values) > 0 {
		value, text = c.Args[1].Values[0], c.Args[1].Key
		v, effect, _ := strings.Cut(value, ":")
		value, text = v, text+":"+effect
	}
	key, effect, _ := strings.Cut(text, ":")
	t := fairlead.Taint{Key: key, Value: value, Effect: fairlead.TaintEffect(effect)}
	if a := c.Value("added"); a != "" {
		at := s.clock.Now().Add(s.duration(a))
		t.TimeAdded = &at
	}
	if c.Name == "taint" {
		n.Spec.Taints = append(n.Spec.Taints, t)
	} else {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(o fairlead.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
	}
	s.backend.PutNode(n)
}

func (s *script) newPod(c *golden.Command) {
	p, there := s.backend.Pod("ns", c.Args[0].Key)
	if !there {
		s.uids++
		p = fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: c.Args[0].Key, UID: fmt.Sprintf("uid-%d", s.uids), CreationTimestamp: s.clock.Now()}}
		p.Status.Phase = fairlead.PodRunning
	}
	if v := c.Value("node"); v != "" {
		p.Spec.NodeName = v
	}
	if c.Has("uid") {
		p.UID = c.Value("uid")
	}
	if v := c.Value("phase"); v != "" {
		p.Status.Phase = fairlead.PodPhase(v)
	}
	if v := c.Value("bound"); v != "" {
		p.CreationTimestamp = s.clock.Now().Add(s.duration(v))
	}
	if v := c.Value("grace"); v != "" {
		g := int64(s.number(v))
		p.Spec.TerminationGracePeriodSeconds = &g
	}
	if v := c.Value("app"); v != "" {
		p.Labels = map[string]string{"app": v}
	}
	if v := c.Value("owner"); v != "" {
		controller := true
		p.OwnerReferences = []fairlead.OwnerReference{{Kind: v, Name: "owner", Controller: &controller}}
	}
	if v := c.Value("select"); v != "" {
		p.Spec.NodeSelector = map[string]string{eviction.LabelZone: v}
	}
	if c.Has("ready") {
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
	}
	if c.Has("tolerate") {
		p.Spec.Tolerations = nil
		for _, v := range c.Values("tolerate") {
			if v == "" {
				continue
			}
			key, seconds, finite := strings.Cut(v, ":")
			t := fairlead.Toleration{Key: strings.TrimPrefix(key, "*"), Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute}
			if k, value, equal := strings.Cut(t.Key, "="); equal {
				t.Key, t.Value, t.Operator = k, value, fairlead.TolerationEqual
			}
			if finite {
				n, err := strconv.ParseInt(seconds, 10, 64)
				if err != nil {
					s.t.Fatal(err)
				}
				t.TolerationSeconds = &n
			}
			p.Spec.Tolerations = append(p.Spec.Tolerations, t)
		}
	}
	s.backend.PutPod(p)
}

func (s *script) budget(c *golden.Command) {
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: c.Args[0].Key}}
	b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": c.Value("app")}}
	b.Spec.MinAvailable = &fairlead.IntOrString{Int: int(s.number(c.Value("min")))}
	s.backend.PutBudget(b)
}

func (s *script) condition(c *golden.Command) {
	n, _ := s.backend.Node(c.Args[0].Key)
	for _, a := range c.Args[1:] {
		kept := slices.DeleteFunc(n.Status.Conditions, func(o fairlead.NodeCondition) bool { return o.Type == a.Key })
		if a.Values[0] != "none" {
			kept = append(kept, fairlead.NodeCondition{Type: a.Key, Status: fairlead.ConditionStatus(a.Values[0]), LastTransitionTime: s.clock.Now()})
		}
		n.Status.Conditions = kept
	}
	s.backend.PutNode(n)
}

func (s *script) agent(c *golden.Command) {
	for _, a := range c.Args {
		s.agents[a.Key] = c.Name
		if c.Name != "silent" {
			s.backend.Report(a.Key, c.Name == "reports")
		}
	}
}

// run makes passes over all nodes and all zones until no action is decided on,
// then on at every Wake and every report until the time is over.
func (s *script) run(c *golden.Command) {
	until := s.clock.Now().Add(s.duration(c.Value("for")))
	var blocked []fairlead.Block
	for range 10_000 {
		var wake time.Time
		acted := false
		blocked = nil
		note := func(actions []eviction.Action, b []fairlead.Block, w time.Time, err error) {
			for _, a := range actions {
				fmt.Fprintf(&s.out, "%s%s\n", s.since(), describe(a))
				acted = true
			}
			if err != nil {
				for line := range strings.Lines(err.Error()) {
					fmt.Fprintf(&s.out, "%serror: %s\n", s.since(), strings.TrimSpace(line))
				}
				acted = false
			}
			blocked = append(blocked, b...)
			if !w.IsZero() && (wake.IsZero() || w.Before(wake)) {
				wake = w
			}
		}
		for _, n := range s.nodes {
			d, err := s.runner.Reconcile(s.t.Context(), n)
			note(d.Actions, d.Blocked, d.Wake, err)
		}
		z, err := s.runner.ReconcileZones(s.t.Context())
		note(z.Actions, z.Blocked, z.Wake, err)
		if acted {
			continue
		}
		if s.policy != nil && s.policy.NodeLifecycle != nil && (wake.IsZero() || s.beat.Before(wake)) {
			wake = s.beat
		}
		if wake.IsZero() || wake.After(until) {
			s.clock.Set(until)
			break
		}
		s.clock.Set(wake)
		s.heartbeats()
	}
	if c.Has("quiet") {
		return
	}
	for _, b := range blocked {
		fmt.Fprintf(&s.out, "blocked: %s\n", s.words.Block(b, start))
	}
}

func (s *script) heartbeats() {
	for ; !s.beat.After(s.clock.Now()); s.beat = s.beat.Add(10 * time.Second) {
		for _, n := range s.nodes {
			if a := s.agents[n]; a == "reports" || a == "unready" {
				s.backend.Report(n, a == "reports")
			}
		}
	}
}

func (s *script) since() string { return s.clock.Now().Sub(start).String() + " " }

func describe(a eviction.Action) string {
	if a, ok := a.(eviction.Evict); ok {
		text := fmt.Sprintf("evict %s from %s for %s", a.Pod, a.Node, a.Taint.Key)
		if a.Pod.UID != "" {
			text += " (" + a.Pod.UID + ")"
		}
		if a.Budget {
			text += " if budgets allow"
		}
		return text
	}
	return a.String()
}

func (s *script) show(c *golden.Command) {
	for _, name := range s.nodes {
		if len(c.Args) > 0 && c.Args[0].Key != name {
			continue
		}
		if n, ok := s.backend.Node(name); ok {
			text := "node " + name
			for _, t := range n.Spec.Taints {
				text += fmt.Sprintf(" %s:%s", t.Key, t.Effect)
			}
			fmt.Fprintln(&s.out, text)
		}
		for _, p := range s.backend.Pods(name) {
			text := "pod " + p.Name + " on " + name
			if p.DeletionTimestamp != nil {
				text += " terminating"
			}
			fmt.Fprintln(&s.out, text)
		}
	}
}
