package fleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
)

// PausedAnnotation stops a health check, whatever its value is.
const PausedAnnotation = "cluster.x-k8s.io/paused"

// Times of health checks.
const (
	DefaultNodeStartupTimeout = 10 * time.Minute // if a check has none
	maxCheckInterval          = time.Hour        // the maximum time between two evaluations of a target
)

// Duration is a time span that JSON writes as text, "5m0s".
type Duration time.Duration

// MarshalJSON writes the text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the text.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%s is not a duration such as \"5m\"", data)
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"5m\"", text)
	}
	*d = Duration(span)
	return nil
}

// HealthCheck is a MachineHealthCheck of the Machine API: it replaces unhealthy
// machines.
type HealthCheck struct {
	lifecycle.ObjectMeta `json:"metadata"` // its name and the other metadata
	Spec                 HealthCheckSpec   `json:"spec"` // the desired state
}

// HealthCheckSpec is the desired state of a health check.
type HealthCheckSpec struct {
	Selector            lifecycle.LabelSelector `json:"selector"`                     // which machines
	UnhealthyConditions []UnhealthyCondition    `json:"unhealthyConditions"`          // any of which makes a machine unhealthy
	MaxUnhealthy        *lifecycle.IntOrString  `json:"maxUnhealthy,omitempty"`       // if there are more, nothing is replaced; nil means 100%
	NodeStartupTimeout  *Duration               `json:"nodeStartupTimeout,omitempty"` // how long a machine may have no node; nil means 10m, 0 forever
	// UnhealthyRange, as in "[3-5]", allows replacement only while the number of
	// unhealthy machines is in it. It overrides MaxUnhealthy.
	UnhealthyRange string `json:"unhealthyRange,omitempty"`
	// UnhealthyMachineConditions are conditions of a machine that make it unhealthy,
	// whatever its node reports.
	UnhealthyMachineConditions []UnhealthyCondition `json:"unhealthyMachineConditions,omitempty"`
	// MaxInFlight is how many machines may be replaced at a time: a number, or a
	// share of the machines, rounded up. Nil means no limit. In the Cluster API it is
	// spec.remediation.maxInFlight of a MachineDeployment.
	MaxInFlight *lifecycle.IntOrString `json:"maxInFlight,omitempty"`
	// RemediationTemplate is the template of an external remediation that is used
	// instead of a deletion. Nil means that machines are deleted.
	RemediationTemplate *TemplateRef `json:"remediationTemplate,omitempty"`
}

// UnhealthyCondition is a condition of a node that makes its machine unhealthy.
type UnhealthyCondition struct {
	Type    string                    `json:"type"`    // of the node's condition
	Status  lifecycle.ConditionStatus `json:"status"`  // its status
	Timeout Duration                  `json:"timeout"` // and for how long
}

// TemplateRef names the template of a remediation.
type TemplateRef struct {
	APIVersion string `json:"apiVersion"` // of the template
	Kind       string `json:"kind"`       // of the template
	Name       string `json:"name"`       // of the template
}

// Target is a machine with its node.
type Target struct {
	Machine *lifecycle.Machine // not nil
	Node    *lifecycle.Node    // nil if there is none
}

// Health is the result of a check for a machine.
type Health struct {
	Machine   string    `json:"machine"`          // namespace/name
	Unhealthy bool      `json:"unhealthy"`        // it should be replaced
	Counts    bool      `json:"counts"`           // it counts as healthy
	Reason    string    `json:"reason,omitempty"` // why it is unhealthy, a stable word, see ReasonMarked
	Why       string    `json:"why,omitempty"`    // why it is unhealthy, for people
	Next      time.Time `json:"next,omitzero"`    // when that may change without an event; zero if not
	Deleting  bool      `json:"deleting"`         // it is being deleted
	Node      string    `json:"node,omitempty"`   // its node
}

// Reasons of Health: those of the Cluster API's condition HealthCheckSucceeded, and
// one for a machine that has failed.
const (
	ReasonMarked           = "HasRemediateAnnotation" // it has RemediateAnnotation
	ReasonFailed           = "MachineFailed"          // its phase is Failed
	ReasonNoNode           = "NodeStartupTimeout"     // it has had no node for too long
	ReasonNodeGone         = "NodeDeleted"            // its node is gone
	ReasonUnhealthyNode    = "UnhealthyNode"          // by a condition of its node
	ReasonUnhealthyMachine = "UnhealthyMachine"       // by a condition of its own
)

// HealthReport is the decision of a check.
type HealthReport struct {
	Targets []Health `json:"targets"` // by namespace and name
	// Skipped are machines that the check ignores because of an annotation, which Why
	// names. They do not count.
	Skipped []Health `json:"skipped,omitempty"`
	Total   int      `json:"total"`   // machines that the check selects
	Healthy int      `json:"healthy"` // of them; neither unhealthy, nor about to be, nor being deleted
	Max     int      `json:"max"`     // how many may be unhealthy; -1 if that is unknown
	// Remediate names the machines to replace now; empty while too many are
	// unhealthy. They are replaced by deletion, or by a remediation from the
	// template, which has the machine's name.
	Remediate []string `json:"remediate,omitempty"`
	// Blocked says why machines that should be replaced are not.
	Blocked []fairlead.Block `json:"blocked,omitempty"`
	Wake    time.Time        `json:"wake,omitzero"` // when to look again; zero means after an event only
}

// Check returns what is wrong with the check as fairlead.FieldErrors, or nil. A
// MaxUnhealthy or UnhealthyRange that cannot be read is not an error: it blocks
// remediation, see Evaluate.
func (h *HealthCheck) Check() error {
	var errs fairlead.FieldErrors
	if err := h.Spec.Selector.Check(); err != nil {
		errs = append(errs, &fairlead.FieldError{Path: "spec.selector", Problem: err.Error()})
	}
	for i, c := range h.Spec.UnhealthyConditions {
		path := fmt.Sprintf("spec.unhealthyConditions[%d]", i)
		if c.Timeout < 0 {
			errs = append(errs, &fairlead.FieldError{Path: path + ".timeout", Problem: fmt.Sprintf("%v is negative", time.Duration(c.Timeout))})
		}
		if c.Type == "" {
			errs = append(errs, &fairlead.FieldError{Path: path + ".type", Problem: "is empty; name the condition of the node"})
		}
	}
	for i, c := range h.Spec.UnhealthyMachineConditions {
		if path := fmt.Sprintf("spec.unhealthyMachineConditions[%d]", i); c.Timeout < 0 {
			errs.Add(path+".timeout", "%v is negative", time.Duration(c.Timeout))
		} else if c.Type == "" {
			errs.Add(path+".type", "is empty; name the condition of the machine")
		}
	}
	if h.Spec.MaxInFlight != nil {
		if _, err := h.Spec.MaxInFlight.Scale(1, true); err != nil {
			errs.Add("spec.maxInFlight", "%v", err)
		}
	}
	if t := h.Spec.NodeStartupTimeout; t != nil && *t < 0 {
		errs = append(errs, &fairlead.FieldError{Path: "spec.nodeStartupTimeout", Problem: fmt.Sprintf("%v is negative; 0 turns it off", time.Duration(*t))})
	}
	if errs == nil {
		return nil
	}
	return errs
}

// Evaluate decides which machines to replace. Targets that the check does not select
// are ignored; those with [SkipRemediationAnnotation] or [PausedAnnotation] are
// reported as skipped.
//
//  1. A machine is unhealthy if it has failed or has [RemediateAnnotation], if its
//     node is gone, if it has had no node for longer than the startup timeout since
//     its status was written (in the Cluster API: since it was created, or its
//     infrastructure was ready), or if it, or its node, has had one of the conditions
//     for longer than its timeout.
//  2. A machine counts as healthy if it is not unhealthy, will not become so by the
//     passing of time, and is not being deleted.
//  3. If more do not count as healthy than MaxUnhealthy allows (a share is rounded
//     down), none is replaced: so many at once have another cause. The Block names
//     the machines. Nothing is replaced either if MaxUnhealthy is invalid, or the
//     check is paused. If there is an UnhealthyRange, it is used instead.
//  4. A machine without a controller is not replaced, because nothing would replace
//     it.
//  5. Of the others, MaxInFlight are replaced at a time: first those with
//     [RemediateAnnotation], then the newest. Remediate lists them by name.
//
// The error is that of Check.
func (h *HealthCheck) Evaluate(targets []Target, now time.Time) (*HealthReport, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	r := &HealthReport{}
	var sick, owned []Target
	var names []string
	chosen := slices.DeleteFunc(slices.Clone(targets), func(t Target) bool {
		return t.Machine.Namespace != h.Namespace || !h.Spec.Selector.Matches(t.Machine.Labels)
	})
	slices.SortFunc(chosen, func(a, b Target) int { return byName(a.Machine, b.Machine) })
	for _, t := range chosen {
		if why := skipped(t.Machine); why != "" {
			r.Skipped = append(r.Skipped, Health{Machine: t.Machine.ObjectMeta.String(), Why: why, Deleting: t.Machine.Deleting()})
			continue
		}
		v := h.look(t, now)
		r.Targets = append(r.Targets, v)
		r.Total++
		if v.Counts {
			r.Healthy++
		}
		if v.Unhealthy && !v.Deleting {
			sick = append(sick, t)
			names = append(names, v.Machine)
		}
		if !v.Next.IsZero() {
			r.at(v.Next)
		}
	}
	if r.Total > 0 {
		r.at(now.Add(maxCheckInterval))
	}
	if reason, message, unblock := h.restrained(r); reason != "" {
		if len(names) > 0 {
			r.Blocked = append(r.Blocked, fairlead.Block{
				Subject: "health check " + h.ObjectMeta.String(), Reason: reason,
				Message: fmt.Sprintf("%s; unhealthy and not replaced: %s", message, words.First(names, listed)), Unblock: unblock,
			})
		}
		return r, nil
	}
	for i, t := range sick {
		if t.Machine.ControllerOf() == nil {
			r.Blocked = append(r.Blocked, fairlead.Block{
				Subject: "machine " + names[i], Reason: "NoController", Message: "it is unhealthy but belongs to no set, so nothing would replace it",
				Unblock: "replace it manually",
			})
			continue
		}
		owned = append(owned, t)
	}
	for _, t := range h.limit(r, owned) {
		r.Remediate = append(r.Remediate, t.Machine.ObjectMeta.String())
	}
	slices.Sort(r.Remediate)
	return r, nil
}

func (r *HealthReport) at(t time.Time) {
	if r.Wake.IsZero() || t.Before(r.Wake) {
		r.Wake = t
	}
}

// restrained says why nothing is replaced; the reason is empty if something may.
func (h *HealthCheck) restrained(r *HealthReport) (reason, message, unblock string) {
	limit := lifecycle.IntOrString{Text: "100%"}
	if h.Spec.MaxUnhealthy != nil {
		limit = *h.Spec.MaxUnhealthy
	}
	most, err := limit.Scale(r.Total, false)
	if err != nil {
		r.Max = -1
		return "InvalidMaxUnhealthy", "spec.maxUnhealthy: " + err.Error(), "correct spec.maxUnhealthy"
	}
	r.Max = most
	least := 0
	if h.Spec.UnhealthyRange != "" {
		if least, r.Max, err = unhealthyRange(h.Spec.UnhealthyRange); err != nil {
			r.Max = -1
			return "InvalidUnhealthyRange", "spec.unhealthyRange: " + err.Error(), "correct spec.unhealthyRange"
		}
	}
	if _, paused := h.Annotations[PausedAnnotation]; paused {
		return "Paused", "it is paused", "remove annotation " + PausedAnnotation
	}
	field := "spec.maxUnhealthy"
	if h.Spec.UnhealthyRange != "" {
		field = "spec.unhealthyRange"
	}
	switch n := r.Total - r.Healthy; {
	case n > r.Max:
		return "TooManyUnhealthy", fmt.Sprintf("%d of %d machines are not healthy, and at most %d may be", n, r.Total, r.Max),
			"find out what they have in common, or raise " + field
	case n < least:
		return "TooFewUnhealthy", fmt.Sprintf("%d of %d machines are not healthy, and none is replaced below %d", n, r.Total, least),
			"lower the minimum of " + field
	}
	return "", "", ""
}

// look evaluates one machine.
func (h *HealthCheck) look(t Target, now time.Time) Health {
	m := t.Machine
	v := Health{Machine: m.ObjectMeta.String(), Deleting: m.Deleting()}
	if m.Status.NodeRef != nil {
		v.Node = m.Status.NodeRef.Name
	}
	_, marked := m.Annotations[RemediateAnnotation]
	h.machineConditions(&v, m, now)
	switch {
	case v.Unhealthy:
	case marked:
		v.Unhealthy, v.Reason, v.Why = true, ReasonMarked, "it has annotation "+RemediateAnnotation
	case m.Status.Phase == lifecycle.PhaseFailed:
		v.Unhealthy, v.Reason, v.Why = true, ReasonFailed, "it has failed"
	case m.Status.NodeRef == nil:
		h.starting(&v, m, now)
	case t.Node == nil:
		v.Unhealthy, v.Reason, v.Why = true, ReasonNodeGone, "its node "+v.Node+" is gone"
	default:
		h.conditions(&v, t.Node, now)
	}
	// In the Cluster API a machine without a node is not healthy, even if it may stay without one.
	v.Counts = !v.Unhealthy && v.Next.IsZero() && !v.Deleting && (t.Node != nil || !clusterAPI(m))
	return v
}

// clusterAPI reports whether a machine is from the Cluster API.
func clusterAPI(m *lifecycle.Machine) bool {
	return strings.HasPrefix(m.APIVersion, "cluster.x-k8s.io/")
}

// machineConditions evaluates a machine by its own conditions.
func (h *HealthCheck) machineConditions(v *Health, m *lifecycle.Machine, now time.Time) {
	for _, c := range h.Spec.UnhealthyMachineConditions {
		is := lifecycle.FindCondition(m.Status.Conditions, c.Type)
		if is == nil || is.Status != c.Status {
			continue
		}
		limit := time.Duration(c.Timeout)
		h.past(v, ReasonUnhealthyMachine, fmt.Sprintf("its condition %s is %s for more than %v", c.Type, c.Status, limit), is.LastTransitionTime, limit, now)
		if v.Unhealthy {
			return
		}
	}
}

// starting evaluates a machine without a node.
func (h *HealthCheck) starting(v *Health, m *lifecycle.Machine, now time.Time) {
	limit := DefaultNodeStartupTimeout
	if t := h.Spec.NodeStartupTimeout; t != nil {
		limit = time.Duration(*t)
	}
	if limit == 0 {
		return
	}
	since := m.CreationTimestamp
	switch {
	case clusterAPI(m):
		if c := lifecycle.FindCondition(m.Status.Conditions, "InfrastructureReady"); c != nil && c.Status == fairlead.ConditionTrue && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime
		}
	case m.Status.LastUpdated != nil:
		since = *m.Status.LastUpdated
	}
	if since.IsZero() {
		since = now
	}
	h.past(v, ReasonNoNode, fmt.Sprintf("it has had no node for more than %v", limit), since, limit, now)
}

// conditions evaluates a machine by the conditions of its node.
func (h *HealthCheck) conditions(v *Health, n *lifecycle.Node, now time.Time) {
	for _, c := range h.Spec.UnhealthyConditions {
		i := slices.IndexFunc(n.Status.Conditions, func(o fairlead.NodeCondition) bool { return o.Type == c.Type })
		if i < 0 || n.Status.Conditions[i].Status != c.Status {
			continue
		}
		limit := time.Duration(c.Timeout)
		h.past(v, ReasonUnhealthyNode, fmt.Sprintf("condition %s of its node is %s for more than %v", c.Type, c.Status, limit), n.Status.Conditions[i].LastTransitionTime, limit, now)
		if v.Unhealthy {
			return
		}
	}
}

// past evaluates how long something has lasted. If its limit is not reached yet, it
// schedules another evaluation a second after that.
func (h *HealthCheck) past(v *Health, reason, why string, since time.Time, limit time.Duration, now time.Time) {
	if now.Sub(since) > limit {
		v.Unhealthy, v.Reason, v.Why, v.Next = true, reason, why, time.Time{}
		return
	}
	next := now.Add(limit - now.Sub(since) + time.Second)
	if v.Next.IsZero() || next.Before(v.Next) {
		v.Next = next
	}
}

// listed is how many names a message lists.
const listed = 10
