package taints_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/taints"
)

// whatIf asks about the cluster of the script.
func (s *script) whatIf(c *golden.Command) {
	cluster := new(taints.Cluster)
	for _, name := range s.nodes {
		if n, ok := s.backend.Node(name); ok {
			cluster.Nodes = append(cluster.Nodes, n)
		}
		cluster.Pods = append(cluster.Pods, s.backend.Pods(name)...)
	}
	cluster.Budgets = s.backend.Budgets()
	q := &taints.Question{Start: s.clock.Now(), Replacement: s.duration(c.Value("replacement")), Horizon: s.duration(c.Value("horizon"))}
	if len(c.Args) > 0 {
		q.Events = append(q.Events, s.event(c))
	}
	for line := range strings.Lines(c.Input) {
		q.Events = append(q.Events, s.event(parseLine("event "+line, c.Pos)))
	}
	p, err := taints.WhatIf(cluster, q, s.policy)
	switch {
	case err != nil:
		fmt.Fprintln(&s.out, err)
	case c.Has("json"):
		text, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintln(&s.out, string(text))
	case c.Has("svg"):
		err = p.WriteSVG(&s.out)
	default:
		err = p.WriteText(&s.out)
	}
	if err != nil && s.out.Len() == 0 {
		s.t.Fatal(err)
	}
}

func (s *script) event(c *golden.Command) taints.Event {
	taint := func(text string) *taints.Taint {
		if text == "" {
			return nil
		}
		key, effect, _ := strings.Cut(text, ":")
		return &taints.Taint{Key: key, Effect: taints.TaintEffect(effect)}
	}
	return taints.Event{
		After: s.duration(c.Value("after")), Nodes: c.Values("nodes"), Zone: c.Value("zone"),
		Taint: taint(c.Value("taint")), Untaint: taint(c.Value("untaint")), Dark: s.duration(c.Value("dark")),
	}
}
