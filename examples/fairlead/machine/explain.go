package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// explain is the command of that name.
func explain(c *args.Call) error {
	d, o, err := readArguments(c, "machine")
	if err != nil {
		return err
	}
	policy := &lifecycle.Policy{Drain: drain.Policy{Rules: d.Rules}}
	if err := policy.Check(); err != nil {
		return err
	}
	all, stuck := []machines.Explanation{}, false
	for i := range d.Machines {
		m := &d.Machines[i]
		if !o.named(m.Name) || o.order == nil && !m.Deleting() && d.deleting() {
			continue
		}
		x, err := d.Explain(m, o.at, policy)
		if err != nil {
			return fmt.Errorf("machine %s: %w", m.ObjectMeta.String(), err)
		}
		all = append(all, *x)
		stuck = stuck || len(x.Blocked)+len(x.Unknown) > 0
	}
	switch {
	case len(all) == 0:
		return fmt.Errorf("%s; dump it with: %s", absent(o.order), dumpCommand)
	case o.json:
		err = c.JSON(map[string]any{"machines": all})
	default:
		explanations(c.Stdout, all, d.causes(all, o), o)
	}
	return findings(err, stuck)
}

// causes returns what the diagnosis says about the machines that are blocked; nil if none is, or
// only by what their engine says.
func (d *dumped) causes(all []machines.Explanation, o *options) *diagnosing.Advice {
	ask := diagnosis.Options{}
	for i := range all {
		if namespace, name, _ := strings.Cut(all[i].Machine, "/"); len(all[i].Blocked) > 0 {
			ask.Of = append(ask.Of, diagnosis.ID("Machine", namespace, name))
			if all[i].Node != "" {
				ask.Of = append(ask.Of, diagnosis.ID("Node", "", all[i].Node))
			}
		}
	}
	if ask.Of == nil {
		return nil
	}
	return diagnosing.Beyond(diagnosing.About(d.snapshot, o.at, ask), "Machine")
}

// dumpCommand prints the input of explain and drain. Machines of the Cluster API have
// another group.
const dumpCommand = "kubectl get machines.machine.openshift.io,nodes,pods,poddisruptionbudgets -A -o yaml (machines.cluster.x-k8s.io for the Cluster API)"

// absent describes which machines are not in the dump.
func absent(names []string) string {
	if len(names) == 0 {
		return "there is no Machine in the dump"
	}
	return "there is no Machine " + strings.Join(names, " or ") + " in the dump"
}

// options are the arguments that explain and drain share.
type options struct {
	json  bool
	all   bool // leave nothing out of the text
	at    time.Time
	blind bool     // there may be pods that the dump does not have
	order []string // names of machines or nodes, as they were given; nil means all
	// deleting are nodes that whoever deletes them, or their machines, drains.
	deleting map[string]bool
}

// named reports whether the arguments select a machine or node.
func (o *options) named(name string) bool { return o.order == nil || slices.Contains(o.order, name) }

// readArguments reads the arguments and the file that they name; names is the flag
// that selects machines or nodes.
func readArguments(c *args.Call, names string) (*dumped, *options, error) {
	o := &options{deleting: map[string]bool{}}
	form := c.Choice("o", "text", "json")
	c.Flags.BoolVar(&o.all, "v", false, "")
	order := c.Words(names)
	c.Offer(names, reading.Names(map[string]string{"node": "Node", "machine": "Machine"}[names]))
	from := reading.Declare(c)
	if err := c.Parse(0, 1); err != nil {
		return nil, nil, err
	}
	o.json, o.order = *form == "json", *order
	d, err := readDump(from, c.Arg(0))
	if err != nil {
		return nil, nil, err
	}
	if o.at = d.snapshot.Clock.At; o.at.IsZero() { // nothing in the dump says when it was made
		o.at = time.Now().UTC().Truncate(time.Second)
	}
	return d, o, nil
}

// deleting reports whether any machine is being deleted.
func (d *dumped) deleting() bool {
	return slices.ContainsFunc(d.Machines, func(m lifecycle.Machine) bool { return m.Deleting() })
}
