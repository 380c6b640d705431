package machine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// planDrain is the verb drain.
func planDrain(c *args.Call) error {
	var policy drain.Policy
	atOnce := c.Flags.Int("at-once", 1, "")
	c.Flags.BoolVar(&policy.KeepUnmanaged, "keep-unmanaged", false, "")
	c.Flags.BoolVar(&policy.KeepLocalStorage, "keep-local-storage", false, "")
	c.Flags.BoolVar(&policy.DisableEviction, "disable-eviction", false, "")
	none := c.Words("none")
	d, o, err := readArguments(c, "node")
	if err != nil {
		return err
	}
	unseen, err := d.unseen(*none)
	if err != nil {
		return err
	}
	if len(d.Nodes) == 0 {
		return errors.New("there is no Node in the dump")
	}
	if err := d.checkNodes(o.order); err != nil {
		return err
	}
	policy.Rules = d.Rules
	req := &drain.PlanRequest{
		Nodes: d.Nodes, Drain: o.order, AtOnce: *atOnce, Pods: d.Pods, Budgets: d.Budgets, Replicas: d.replicas,
		DaemonSets: d.DaemonSets, DaemonSetsListed: d.Listed, Namespaces: d.Namespaces, ClusterLabels: d.ClusterLabels(),
		Storage: d.snapshot.Storage(),
	}
	req.Returns = true
	for i := range d.Machines {
		m := &d.Machines[i]
		if ref := m.Status.NodeRef; ref != nil {
			if req.Labels == nil {
				req.Labels = map[string]map[string]string{}
			}
			req.Labels[ref.Name] = m.Labels
		}
		if n := d.Node(m); n != nil && m.Deleting() {
			o.leaves(req, n.Name)
		}
	}
	for i := range d.Nodes {
		if n := &d.Nodes[i]; drain.KarpenterDrains(n) {
			o.leaves(req, n.Name)
		}
	}
	p, err := drain.NewPlan(req, o.at, &policy)
	if err != nil {
		return err
	}
	p.Unknown = append(unseen, p.Unknown...)
	o.blind = len(d.snapshot.Missing("Pod")) > 0
	why := d.prevents(p, req, policy, o)
	if o.json {
		err = c.JSON(newDrained(p, why, commands(p, o), o.blind && len(req.Pods) == 0))
	} else {
		planText(c.Stdout, p, req, o, why)
	}
	return findings(err, !p.Completes())
}

// leaves notes that a node is drained by whoever removes it: it is drained unless others were named, and
// does not return.
func (o *options) leaves(req *drain.PlanRequest, node string) {
	o.deleting[node] = true
	if o.order == nil && !slices.Contains(req.Drain, node) {
		req.Drain = append(req.Drain, node)
	}
	if o.named(node) {
		req.Returns = false
	}
}

// drained is a plan, with what the diagnosis says about nodes that cannot be drained.
type drained struct {
	*drain.Plan
	Diagnosis *diagnosing.Advice `json:"diagnosis,omitempty"`
	Commands  []string           `json:"commands,omitempty"` // that drain the nodes, in their order; see drain.NodePlan.Command
	Rounds    *int               `json:"rounds"`             // null if the pods are not known
	Evicted   *int               `json:"evicted"`            // see Rounds
	Stuck     *int               `json:"stuck"`              // see Rounds
}

func newDrained(p *drain.Plan, why *diagnosing.Advice, commands []string, blind bool) drained {
	if blind {
		return drained{Plan: p, Diagnosis: why, Commands: commands}
	}
	return drained{p, why, commands, &p.Rounds, &p.Evicted, &p.Stuck}
}

// prevents returns what the diagnosis says about nodes that cannot be drained; nil if all can be, or
// if the drain is not the usual one.
func (d *dumped) prevents(p *drain.Plan, req *drain.PlanRequest, policy drain.Policy, o *options) *diagnosing.Advice {
	if p.Stuck+p.Homeless == 0 || policy.KeepUnmanaged || policy.KeepLocalStorage || policy.DisableEviction || len(policy.Rules) > 0 {
		return nil
	}
	ask := diagnosis.Options{AtOnce: req.AtOnce}
	for i := range p.Nodes {
		ask.Drain = append(ask.Drain, p.Nodes[i].Node)
		if n := &p.Nodes[i]; n.Stuck+n.Homeless > 0 {
			ask.Of = append(ask.Of, diagnosis.ID("Node", "", n.Node))
		}
	}
	return diagnosing.AdviceOf(diagnosing.About(d.snapshot, o.at, ask))
}

// unseen returns which pods and budgets are not known. That a cluster has no budgets can be
// seen in no dump of several kinds: the flag -none says so.
func (d *dumped) unseen(none []string) ([]string, error) {
	for _, kind := range none {
		if kind != "budgets" {
			return nil, &args.UsageError{Text: "-none " + kind + ": only budgets may be missing"}
		}
	}
	if len(none) == 0 {
		return d.Unseen, nil
	}
	if len(d.Budgets) > 0 {
		return nil, &args.UsageError{Text: "-none budgets: the dump has " + words.Count(len(d.Budgets), "disruption budget", "disruption budgets")}
	}
	d.snapshot.Budgets.Scope = snapshot.Scope{All: true}
	return machines.AroundOf(d.snapshot).Unseen, nil
}

// checkNodes returns an error about the first name that is not a node of the dump.
func (d *dumped) checkNodes(names []string) error {
	known := make([]string, len(d.Nodes))
	for i := range d.Nodes {
		known[i] = d.Nodes[i].Name
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		hint := "it has " + words.List(known, "and", 5)
		if nearest := words.Nearest(name, known); nearest != "" {
			hint = "did you mean " + nearest + "?"
		}
		return fmt.Errorf("-node %s: there is no such node in the dump; %s", name, hint)
	}
	return nil
}
