package cvo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/object"
)

// Dump is what was written down of a cluster, for Inspect. Any part may be
// missing.
type Dump struct {
	Version   *ClusterVersion   // nil when it is not known
	Operators []ClusterOperator // the reports of operators
	Pools     []Pool            // the pools of nodes
	Nodes     []object.Node     // the nodes
	// Configs are the releases that machine configurations are of, by name of the
	// configuration.
	Configs map[string]string
}

// Pool is a MachineConfigPool: the fields of rollout.Pool.
type Pool = rollout.Pool

// Report says how far the update of a cluster is, and what stands in its way.
type Report struct {
	From       string           `json:"from"`            // the version that it comes from; empty if that is not known
	Incomplete bool             `json:"incomplete"`      // From was never reached whole
	Target     string           `json:"target"`          // the version that it goes to
	Updating   bool             `json:"updating"`        // the control plane is not at the target
	Since      time.Time        `json:"since,omitzero"`  // when the update began
	Until      *time.Time       `json:"until,omitempty"` // when the control plane reached the target
	Completion Completion       `json:"completion"`      // of the operators
	Operators  []OperatorReport `json:"operators"`       // all operators, by name
	Pools      []PoolReport     `json:"pools"`           // all pools, control plane first, then by name
	Nodes      []NodeReport     `json:"nodes"`           // all nodes, by pool, what needs attention first, then by name
	Findings   []Finding        `json:"findings"`        // what to look at, worst first
}

// Completion counts operators.
type Completion struct {
	Percent  int `json:"percent"`  // updated, rounded to the nearest
	Updated  int `json:"updated"`  // at the target
	Updating int `json:"updating"` // not at the target, and at work on it
	Waiting  int `json:"waiting"`  // not at the target, and not at work
}

// OperatorReport is the state of one operator.
type OperatorReport struct {
	Name    string    `json:"name"`              // of the operator
	State   string    `json:"state"`             // updated, updating or waiting
	Health  string    `json:"health"`            // healthy, degraded or unavailable
	Version string    `json:"version"`           // that it has reached
	Since   time.Time `json:"since,omitzero"`    // of the state of health, or of its progress
	Reason  string    `json:"reason,omitempty"`  // what it says itself
	Message string    `json:"message,omitempty"` // the same, in a sentence or more
}

// PoolReport is the state of one pool.
type PoolReport struct {
	Name     string `json:"name"`     // of the pool
	State    string `json:"state"`    // updated, updating, pending, paused or degraded
	Total    int    `json:"total"`    // nodes
	Updated  int    `json:"updated"`  // nodes at the target
	Draining int    `json:"draining"` // nodes that are being drained
	Degraded int    `json:"degraded"` // nodes that cannot go on
	Down     int    `json:"down"`     // nodes that are not available, for whatever reason
}

// NodeReport is the state of one node.
type NodeReport struct {
	Name    string    `json:"name"`              // of the node
	Pool    string    `json:"pool"`              // that it belongs to; empty for none
	State   string    `json:"state"`             // updated, updating, draining, pending, paused or degraded
	Version string    `json:"version,omitempty"` // of its configuration; empty if that is not known
	Down    bool      `json:"down"`              // it is not available
	Since   time.Time `json:"since,omitzero"`    // when it stopped being ready
	Message string    `json:"message,omitempty"` // why it is down or cannot go on
}

// Severity orders findings.
type Severity string

// The severities, worst first.
const (
	SeverityError   Severity = "error"   // somebody must do something
	SeverityWarning Severity = "warning" // somebody should look
	SeverityInfo    Severity = "info"    // all is as usual
)

// Finding is one thing to look at.
type Finding struct {
	Subject  string    `json:"subject"`         // what it is about: clusteroperator etcd
	Severity Severity  `json:"severity"`        // how bad it is
	Reason   string    `json:"reason"`          // a word in CamelCase
	Since    time.Time `json:"since,omitzero"`  // since when, if it is known
	Message  string    `json:"message"`         // what is the matter
	Owner    string    `json:"owner,omitempty"` // who can do something about it
	Next     string    `json:"next"`            // what to do, what is normal, or what comes next
}

// Inspect says how far the update of a cluster is that was written down, and
// what stands in its way. now decides how long things last; zero means the
// latest instant that the dump mentions.
func Inspect(d *Dump, now time.Time) *Report {
	if now.IsZero() {
		now = d.latest()
	}
	i := &inspection{d: d, now: now, out: &Report{Operators: []OperatorReport{}, Pools: []PoolReport{}, Nodes: []NodeReport{}, Findings: []Finding{}}}
	i.version()
	for _, o := range d.Operators {
		i.operator(&o)
	}
	i.completion()
	i.pools()
	i.conditions()
	if len(i.out.Findings) == 0 && i.out.Updating {
		i.find(Finding{Subject: "update", Severity: SeverityInfo, Reason: "ProceedingWell", Since: i.out.Since, Message: "the update is proceeding well", Next: i.expect()})
	}
	slices.SortFunc(i.out.Operators, func(a, b OperatorReport) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(i.out.Findings, func(a, b Finding) int {
		order := []Severity{SeverityError, SeverityWarning, SeverityInfo}
		return cmp.Or(cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity)), a.Since.Compare(b.Since), strings.Compare(a.Subject, b.Subject))
	})
	return i.out
}

// latest is the last instant that conditions and the history mention.
func (d *Dump) latest() time.Time {
	var last time.Time
	see := func(t time.Time) {
		if t.After(last) {
			last = t
		}
	}
	conditions := func(list []Condition) {
		for _, c := range list {
			see(c.LastTransitionTime)
		}
	}
	if d.Version != nil {
		conditions(d.Version.Status.Conditions)
		for _, h := range d.Version.Status.History {
			see(h.StartedTime)
			if h.CompletionTime != nil {
				see(*h.CompletionTime)
			}
		}
	}
	for _, o := range d.Operators {
		conditions(o.Status.Conditions)
	}
	for _, p := range d.Pools {
		conditions(p.Status.Conditions)
	}
	return last
}

// inspection is a report in the making.
type inspection struct {
	d   *Dump
	now time.Time
	out *Report
}

func (i *inspection) find(f Finding) { i.out.Findings = append(i.out.Findings, f) }

// version reads the history.
func (i *inspection) version() {
	if i.d.Version == nil || len(i.d.Version.Status.History) == 0 {
		return
	}
	h := i.d.Version.Status.History
	i.out.Target, i.out.Since = h[0].Version, h[0].StartedTime
	i.out.Updating = h[0].State != Completed
	if !i.out.Updating {
		i.out.Until = h[0].CompletionTime
	}
	if len(h) < 2 {
		return
	}
	i.out.From, i.out.Incomplete = h[1].Version, h[1].State != Completed
	if i.out.Incomplete && i.out.Updating {
		message := fmt.Sprintf("the previous update to %s was never completed", h[1].Version)
		if k := completedAfter(h, 0); k >= 0 {
			message += fmt.Sprintf("; the last complete one was to %s", h[k].Version)
		}
		i.find(Finding{
			Subject: "clusterversion version", Severity: SeverityWarning, Reason: "PreviousUpdateIncomplete", Since: h[0].StartedTime,
			Message: message, Owner: "administrator", Next: "nothing: the update under way brings every component to " + h[0].Version,
		})
	}
}

// operator judges one operator.
func (i *inspection) operator(o *ClusterOperator) {
	k := slices.IndexFunc(o.Status.Versions, func(v Operand) bool { return v.Name == "operator" })
	r := OperatorReport{Name: o.Name, State: "waiting", Health: "healthy"}
	if k >= 0 {
		r.Version = o.Status.Versions[k].Version
	}
	available, degraded, progressing := object.FindCondition(o.Status.Conditions, "Available"), object.FindCondition(o.Status.Conditions, "Degraded"), object.FindCondition(o.Status.Conditions, "Progressing")
	switch {
	case r.Version == i.out.Target:
		r.State = "updated"
	case progressing != nil && progressing.Status == True:
		r.State = "updating"
		r.take(progressing)
	}
	switch {
	case available == nil || available.Status != True:
		r.Health = "unavailable"
		r.take(available)
		i.unhealthy(&r, "is not available", 20*time.Minute)
	case degraded == nil || degraded.Status != False:
		r.Health = "degraded"
		r.take(degraded)
		i.unhealthy(&r, "is degraded", 40*time.Minute)
	}
	i.out.Operators = append(i.out.Operators, r)
}

func (r *OperatorReport) take(c *Condition) {
	if c != nil {
		r.Since, r.Reason, r.Message = c.LastTransitionTime, c.Reason, c.Message
	}
}

// unhealthy tells of an operator that does not work as it should.
func (i *inspection) unhealthy(r *OperatorReport, what string, patience time.Duration) {
	f := Finding{
		Subject: "clusteroperator " + r.Name, Severity: SeverityInfo, Reason: cmp.Or(r.Reason, "Unknown"), Since: r.Since,
		Message: "cluster operator " + r.Name + " " + what, Owner: "operator " + r.Name,
	}
	if first, _, _ := strings.Cut(r.Message, "\n"); first != "" {
		f.Message += ": " + first
	}
	age := i.now.Sub(r.Since)
	switch {
	case age >= patience:
		f.Severity = SeverityError
	case age >= 5*time.Minute:
		f.Severity = SeverityWarning
	}
	f.Next = fmt.Sprintf("up to %s is usual during an update", minutes(patience))
	if age >= patience {
		f.Next = fmt.Sprintf("more than %s is not usual during an update: look at the operator's conditions and its pods", minutes(patience))
	}
	if i.out.Updating && r.State != "updated" {
		f.Next += "; the update waits for it"
	}
	i.find(f)
}

// completion counts operators.
func (i *inspection) completion() {
	c := &i.out.Completion
	for _, o := range i.out.Operators {
		switch o.State {
		case "updated":
			c.Updated++
		case "updating":
			c.Updating++
		default:
			c.Waiting++
		}
	}
	if n := len(i.out.Operators); n > 0 {
		c.Percent = (200*c.Updated + n) / (2 * n)
	}
}

// expect says what comes next.
func (i *inspection) expect() string {
	var names []string
	for _, o := range i.out.Operators {
		if o.State == "updating" {
			names = append(names, o.Name)
		}
	}
	switch {
	case len(names) > 0:
		return "operators at work: " + strings.Join(names, ", ") + "; each usually takes up to 30 minutes, machine-config up to 90"
	case i.out.Completion.Waiting > 0:
		return fmt.Sprintf("%d operators have yet to begin", i.out.Completion.Waiting)
	}
	return "the control plane is about to be done"
}

// conditions tells what the cluster version itself reports.
func (i *inspection) conditions() {
	if i.d.Version == nil {
		return
	}
	if c := object.FindCondition(i.d.Version.Status.Conditions, "Failing"); c != nil && c.Status != False {
		f := Finding{
			Subject: "clusterversion version", Severity: SeverityWarning, Reason: c.Reason, Since: c.LastTransitionTime,
			Message: "the update does not proceed: " + strings.ReplaceAll(c.Message, "\n", " "), Owner: "administrator",
			Next: "mend what the operators above report; the update goes on by itself then",
		}
		if c.Status == Unknown {
			f.Message, f.Next = "the update is slower than usual: "+c.Message, "look at the operators that are waited for; nothing has failed"
		}
		i.find(f)
	}
	for _, name := range []string{"ReleaseAccepted", "Invalid"} {
		c := object.FindCondition(i.d.Version.Status.Conditions, name)
		if c != nil && (name == "ReleaseAccepted" && c.Status == False || name == "Invalid" && c.Status == True) {
			i.find(Finding{
				Subject: "clusterversion version", Severity: SeverityWarning, Reason: c.Reason, Since: c.LastTransitionTime,
				Message: c.Message, Owner: "administrator", Next: "mend the cause, or take spec.desiredUpdate back",
			})
		}
	}
}
