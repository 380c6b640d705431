package update

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/scene"
	"github.com/fairlead/fairlead/taints"
)

// outage is a period in which some nodes are silent, or report that they are not
// ready.
type outage struct {
	after, last time.Duration // since the update was requested; last is 0 for forever
	nodes       []string      // in the order of the pools
	notReady    bool
}

// outages reads the outages of nodes.
func (r *scenarioReader) outages(pools []pool) []outage {
	var list []outage
	for i, f := range r.Spec.Outages {
		at := []any{"spec", "outages", i}
		o := outage{after: r.Duration(f.After, 0, "outages", i, "after"), last: r.Duration(f.For, 0, "outages", i, "for"), notReady: f.NotReady}
		var names, zones []string
		for _, q := range pools {
			for _, n := range q.nodes {
				names = append(names, n.name)
				if n.zone != "" && !slices.Contains(zones, n.zone) {
					zones = append(zones, n.zone)
				}
				if slices.Contains(f.Nodes, n.name) || f.Zone != "" && n.zone == f.Zone {
					o.nodes = append(o.nodes, n.name)
				}
			}
		}
		for k, name := range f.Nodes {
			if !slices.Contains(names, name) {
				r.Fault("%s.nodes[%d] is %q, and no pool has such a node; there are %s", append(at, "nodes", k), scene.Path(at), k, name, listed(names))
			}
		}
		switch {
		case f.Zone != "" && !slices.Contains(zones, f.Zone):
			r.Fault("%s.zone is %q, and no node is there; the zones are %s", append(at, "zone"), scene.Path(at), f.Zone, listed(zones))
		case len(o.nodes) == 0:
			r.Fault("%s: it affects no node; name nodes, or a zone", at, scene.Path(at))
		}
		list = append(list, o)
	}
	return list
}

// tolerations reads the tolerations of the pods of a workload, and adds those
// that the control plane adds.
func (r *scenarioReader) tolerations(f *scene.Workload, path []any) []fairlead.Toleration {
	var wrong taints.FieldErrors
	if err := taints.ValidateTolerations(f.Tolerations, nil); errors.As(err, &wrong) {
		field := strings.TrimPrefix(wrong[0].Field, "spec.tolerations") // begins with the index
		list, i := scene.Path(path), 0
		if _, err := fmt.Sscanf(field, "[%d]", &i); err == nil {
			path = append(path, i)
		}
		why := *wrong[0]
		why.Field = list + field
		r.Fault("%w", path, &why)
	}
	if f.Daemon {
		return taints.DaemonSetTolerations(f.Tolerations, false)
	}
	return taints.DefaultTolerations(f.Tolerations, taints.DefaultTolerationSeconds, taints.DefaultTolerationSeconds)
}

// outages plans the outages of nodes.
func (p *play) outages() {
	for _, o := range p.silences {
		for _, name := range o.nodes {
			why := "it has stopped reporting"
			if o.notReady {
				why = "reports that it is not ready"
			}
			p.at(o.after, func() { p.agents.trouble(name, o.notReady, why) })
			if o.last > 0 {
				p.at(o.after+o.last, func() { p.agents.better(name, o.notReady) })
			}
		}
	}
}

// reboots plans the last part of the change of a node, in which its agent does not run.
func (p *play) reboots(n *node) {
	if n.fails || n.reboot == 0 {
		return
	}
	p.at(n.update-n.reboot, func() { p.agents.trouble(n.name, false, "reboots") })
	if !n.lost {
		p.at(n.update, func() { p.agents.better(n.name, false) })
	}
}
