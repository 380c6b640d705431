package payload

import (
	"cmp"
	"time"
)

// Estimates say how long tasks take. The zero value has the figures of the
// documentation: manifests take about a second, operators minutes, and a whole
// update one to two hours.
type Estimates struct {
	// Manifest is how long it takes to apply one. Zero means a second.
	Manifest time.Duration `json:"manifest,omitempty"`
	// Operator is how long a ClusterOperator takes to reach its new version, once
	// its manifests are applied. Zero means five minutes.
	Operator time.Duration `json:"operator,omitempty"`
	// Operators are those that take another time, by name, for example as
	// measured. Nil means twenty minutes for machine-config.
	Operators map[string]time.Duration `json:"operators,omitempty"`
	// Kinds are the manifests that take another time, by kind. Nil means twenty
	// seconds for Deployments and DaemonSets, and five for the
	// CustomResourceDefinitions, which are waited for until they are served.
	Kinds map[string]time.Duration `json:"kinds,omitempty"`
}

func (e *Estimates) of(m *Manifest) time.Duration {
	known, otherwise, name := e.Kinds, e.Manifest, m.ID.Kind
	switch {
	case m.Delete():
		return e.Manifest
	case m.ClusterOperator():
		known, otherwise, name = e.Operators, e.Operator, m.ID.Name
	}
	if d, ok := known[name]; ok {
		return d
	}
	return otherwise
}

// complete fills in missing values.
func (e *Estimates) complete() Estimates {
	var c Estimates
	if e != nil {
		c = *e
	}
	c.Manifest, c.Operator = cmp.Or(c.Manifest, time.Second), cmp.Or(c.Operator, 5*time.Minute)
	if c.Operators == nil {
		c.Operators = map[string]time.Duration{"machine-config": 20 * time.Minute}
	}
	if c.Kinds == nil {
		c.Kinds = map[string]time.Duration{
			"Deployment": 20 * time.Second, "DaemonSet": 20 * time.Second, "CustomResourceDefinition": 5 * time.Second,
		}
	}
	return c
}

// Durations returns the estimates for all tasks. A nil e means the defaults.
func (e *Estimates) Durations(tasks []*Manifest) []time.Duration {
	all, c := make([]time.Duration, len(tasks)), e.complete()
	for i, m := range tasks {
		all[i] = c.of(m)
	}
	return all
}

// PlanOptions say how a plan is made. The zero value is that of an update.
type PlanOptions struct {
	GraphOptions           // how tasks are ordered
	Workers      int       // how many tasks run in parallel; zero means 16, as in the reference
	Estimates    Estimates // how long they take
}

// Plan is what would be done, in which order, and how long that takes.
type Plan struct {
	Graph     *Graph          // the order
	Durations []time.Duration // of each task, estimated
	Critical  []int           // tasks of the critical path, in order
	Schedule  *Schedule       // who does what when
}

// defaultWorkers is how many tasks the reference carries out in parallel during
// an update.
const defaultWorkers = 16

// NewPlan plans how tasks, which are manifests in load order, are carried out.
// Nil options mean the defaults.
func NewPlan(tasks []*Manifest, opts *PlanOptions) *Plan {
	if opts == nil {
		opts = &PlanOptions{}
	}
	p := &Plan{Graph: NewGraph(tasks, &opts.GraphOptions), Durations: opts.Estimates.Durations(tasks)}
	p.Critical, _ = p.Graph.CriticalPath(p.Durations)
	workers := opts.Workers
	if workers <= 0 {
		workers = defaultWorkers
	}
	p.Schedule = p.Graph.Schedule(p.Durations, workers)
	return p
}
