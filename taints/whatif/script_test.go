package whatif_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
	"github.com/fairlead/fairlead/taints/whatif"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scripts of testdata. The commands:
//
//	do                          carries out the commands of the input, one a line:
//	  policy [budgets=TIMEOUT]  a new, empty cluster under this policy
//	  node NAME count=N zone=Z [cpu=N]
//	                            N nodes that are ready, with numbers
//	  pod NAME node=NODE [app=A] [owner=KIND] [select=ZONE] [cpu=N] [ready]
//	      [tolerate=(KEY:SECONDS,KEY,...)]
//	  budget NAME app=A min=N   a disruption budget
//	whatif [zone=Z] [nodes=(N,...)] [taint=KEY:EFFECT] [untaint=KEY[:EFFECT]]
//	       [dark=DURATION] [after=DURATION] [replacement=DURATION] [text|svg|json]
//	                            predicts; more events stand in the input. What is
//	                            predicted is played in a cluster in memory, too
//
// What whatif prints without text, svg or json is data: no sentences.
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words/whatif.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		s := &script{t: t, words: words, cluster: new(taints.Cluster)}
		return func(c *golden.Command) string {
			if c.Name == "whatif" {
				return s.whatIf(c)
			}
			for line := range strings.Lines(c.Input) {
				s.do(parseLine(line, c.Pos))
			}
			return "ok"
		}
	})
}

type script struct {
	t       *testing.T
	words   *golden.Words
	policy  *eviction.Policy
	cluster *taints.Cluster
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

func (s *script) do(c *golden.Command) {
	switch c.Name {
	case "policy":
		s.policy, s.cluster = new(eviction.Policy), new(taints.Cluster)
		if c.Has("budgets") {
			s.policy.RespectBudgets, s.policy.BudgetTimeout = true, s.duration(c.Value("budgets"))
		}
	case "node":
		s.nodes(c)
	case "pod":
		s.pod(c)
	case "budget":
		b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: c.Args[0].Key}}
		b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": c.Value("app")}}
		b.Spec.MinAvailable = &fairlead.IntOrString{Int: s.number(c.Value("min"))}
		s.cluster.Budgets = append(s.cluster.Budgets, b)
	default:
		s.t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
	}
}

func (s *script) nodes(c *golden.Command) {
	for i := range s.number(c.Value("count")) {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint(c.Args[0].Key, i+1), CreationTimestamp: start}}
		n.UID = "uid-" + n.Name
		n.Labels = map[string]string{eviction.LabelZone: c.Value("zone")}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastHeartbeatTime: start, LastTransitionTime: start}}
		if cpu := c.Value("cpu"); cpu != "" {
			n.Status.Allocatable = map[string]string{"cpu": cpu, "pods": "110"}
		}
		s.cluster.Nodes = append(s.cluster.Nodes, n)
	}
}

func (s *script) pod(c *golden.Command) {
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: c.Args[0].Key, UID: fmt.Sprintf("uid-%d", len(s.cluster.Pods)+1), CreationTimestamp: start}}
	p.Spec.NodeName, p.Status.Phase = c.Value("node"), fairlead.PodRunning
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
	if v := c.Value("cpu"); v != "" {
		p.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": v}}}}
	}
	if c.Has("ready") {
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
	}
	for _, v := range c.Values("tolerate") {
		key, seconds, finite := strings.Cut(v, ":")
		t := fairlead.Toleration{Key: strings.TrimPrefix(key, "*"), Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute}
		if finite {
			n := int64(s.number(seconds))
			t.TolerationSeconds = &n
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
	if i := slices.IndexFunc(s.cluster.Pods, func(o fairlead.Pod) bool { return o.Name == p.Name }); i >= 0 {
		s.cluster.Pods[i] = p
		return
	}
	s.cluster.Pods = append(s.cluster.Pods, p)
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

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// whatIf asks about the cluster of the script.
func (s *script) whatIf(c *golden.Command) string {
	q := &whatif.Question{Start: start, Replacement: s.duration(c.Value("replacement")), Horizon: s.duration(c.Value("horizon"))}
	if len(c.Args) > 0 {
		q.Events = append(q.Events, s.event(c))
	}
	for line := range strings.Lines(c.Input) {
		q.Events = append(q.Events, s.event(parseLine("event "+line, c.Pos)))
	}
	var out strings.Builder
	p, err := whatif.Predict(s.cluster, q, s.policy)
	if err == nil {
		play(s.t, s.cluster, q, s.policy, p)
	}
	switch {
	case err != nil:
		var q *whatif.QuestionError
		if errors.As(err, &q) {
			return "refused " + q.Field + s.words.Data("refused", q.Problem)
		}
		return err.Error()
	case c.Has("json"):
		text, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text)
	case c.Has("svg"):
		err = p.WriteSVG(&out)
	case c.Has("text"):
		err = p.WriteText(&out)
	default:
		return s.data(p)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return out.String()
}

func (s *script) event(c *golden.Command) whatif.Event {
	taint := func(text string) *fairlead.Taint {
		if text == "" {
			return nil
		}
		key, effect, _ := strings.Cut(text, ":")
		return &fairlead.Taint{Key: key, Effect: fairlead.TaintEffect(effect)}
	}
	return whatif.Event{
		After: s.duration(c.Value("after")), Nodes: c.Values("nodes"), Zone: c.Value("zone"),
		Taint: taint(c.Value("taint")), Untaint: taint(c.Value("untaint")), Dark: s.duration(c.Value("dark")),
	}
}

// data prints a prediction without its words.
func (s *script) data(p *whatif.Prediction) string {
	var out strings.Builder
	for i := range p.Entries {
		e := &p.Entries[i]
		fmt.Fprintf(&out, "+%v %s", e.At.Sub(p.Start), e.Kind)
		for _, part := range []string{e.Zone, string(e.Mode), e.Node} {
			if part != "" {
				out.WriteString(" " + part)
			}
		}
		switch {
		case e.Kind == whatif.EntryEvent:
			out.WriteString(s.words.Data("event", e.Text))
		case e.Text != "":
			out.WriteString(" Ready=" + e.Text)
		}
		if e.Taint != nil {
			out.WriteString(" " + e.Taint.String())
		}
		if e.Pod != nil {
			out.WriteString(" " + e.Pod.String())
		}
		if e.Toleration != nil {
			out.WriteString(" tolerated by " + e.Toleration.String())
		}
		if e.Fate != "" {
			out.WriteString(" " + string(e.Fate))
		}
		if len(e.Violates) > 0 {
			fmt.Fprintf(&out, " violates %v", e.Violates)
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "evicted %d, violations %d", p.Evicted, p.Violations)
	if !p.Last.IsZero() {
		fmt.Fprintf(&out, ", last +%v", p.Last.Sub(p.Start))
	}
	if len(p.Stranded) > 0 {
		fmt.Fprintf(&out, ", stranded %v", p.Stranded)
	}
	if len(p.Lost) > 0 {
		fmt.Fprintf(&out, ", lost %v", p.Lost)
	}
	if p.Open {
		out.WriteString(", open")
	}
	return out.String()
}
