package fleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
)

// PausedAnnotation stops a health check, whatever its value.
const PausedAnnotation = "cluster.x-k8s.io/paused"

// Times of health checks.
const (
	DefaultNodeStartupTimeout = 10 * time.Minute // when a check says nothing
	maxCheckInterval          = time.Hour        // a target is looked at as often at least
)

// Duration is a time span that JSON has as text, "5m0s".
type Duration time.Duration

// MarshalJSON writes the text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the text.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%s is no duration such as \"5m\"", data)
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is no duration such as \"5m\"", text)
	}
	*d = Duration(span)
	return nil
}

// HealthCheck is a MachineHealthCheck of the Machine API: it has machines
// replaced that are not healthy.
type HealthCheck struct {
	lifecycle.ObjectMeta `json:"metadata"` // its name and what else all objects have
	Spec                 HealthCheckSpec   `json:"spec"` // what is asked of it
}

// HealthCheckSpec is what is asked of a health check.
type HealthCheckSpec struct {
	Selector            lifecycle.LabelSelector `json:"selector"`                     // whose machines
	UnhealthyConditions []UnhealthyCondition    `json:"unhealthyConditions"`          // any of which makes a machine unhealthy
	MaxUnhealthy        *lifecycle.IntOrString  `json:"maxUnhealthy,omitempty"`       // with more of them nothing is replaced; nil means 100%
	NodeStartupTimeout  *Duration               `json:"nodeStartupTimeout,omitempty"` // how long a machine may have no node; nil means 10m, 0 for ever
	// RemediationTemplate is of whoever remedies instead of a deletion. Nil means
	// that machines are deleted.
	RemediationTemplate *TemplateRef `json:"remediationTemplate,omitempty"`
}

// UnhealthyCondition is a condition of a node that makes its machine unhealthy.
type UnhealthyCondition struct {
	Type    string                    `json:"type"`    // of the node's condition
	Status  lifecycle.ConditionStatus `json:"status"`  // that it has
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

// Health is what a check finds of a machine.
type Health struct {
	Machine   string    `json:"machine"`        // namespace/name
	Unhealthy bool      `json:"unhealthy"`      // it is to be replaced
	Counts    bool      `json:"counts"`         // it counts as a healthy one
	Why       string    `json:"why,omitempty"`  // why not, in words
	Next      time.Time `json:"next,omitzero"`  // when that may change without an event; zero if not
	Deleting  bool      `json:"deleting"`       // it is being deleted
	Node      string    `json:"node,omitempty"` // its node
}

// HealthReport is what a check decides.
type HealthReport struct {
	Targets []Health `json:"targets"` // by namespace and name
	Total   int      `json:"total"`   // machines that the check selects
	Healthy int      `json:"healthy"` // of them; neither unhealthy, nor about to be, nor being deleted
	Max     int      `json:"max"`     // how many may be unhealthy; -1 if that cannot be told
	// Remediate names the machines to be replaced now; empty while too many are
	// unhealthy. By deletion, or by a remediation that the template makes, which
	// has the machine's name.
	Remediate []string `json:"remediate,omitempty"`
	// Blocked says why machines are not replaced that should be.
	Blocked []fairlead.Block `json:"blocked,omitempty"`
	Wake    time.Time        `json:"wake,omitzero"` // when to look again; zero means after an event only
}

// Check returns what is wrong with the check as fairlead.FieldErrors, or nil. A
// MaxUnhealthy that is no number is not: it blocks remediation, see Judge.
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
	if t := h.Spec.NodeStartupTimeout; t != nil && *t < 0 {
		errs = append(errs, &fairlead.FieldError{Path: "spec.nodeStartupTimeout", Problem: fmt.Sprintf("%v is negative; 0 turns it off", time.Duration(*t))})
	}
	if errs == nil {
		return nil
	}
	return errs
}

// Judge decides which machines are to be replaced. Targets that the check does
// not select are passed over.
//
//  1. Unhealthy is a machine that has failed, whose node is gone, that has had no
//     node for longer than the startup timeout since its status was written, or
//     whose node has had one of the conditions for longer than its timeout.
//  2. A machine counts as healthy if it is not unhealthy, will not be by the mere
//     passing of time, and is not being deleted.
//  3. If more do not count than MaxUnhealthy allows (a share is rounded down), none
//     is replaced: that many at once are a fault of something else. The Block
//     names the machines. Nothing is replaced either where MaxUnhealthy is no
//     number, or the check is paused.
//  4. A machine without a controller is not replaced, as nobody would.
//
// The error is that of Check.
func (h *HealthCheck) Judge(targets []Target, now time.Time) (*HealthReport, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	r := &HealthReport{}
	var sick []Target
	var names []string
	chosen := slices.DeleteFunc(slices.Clone(targets), func(t Target) bool {
		return t.Machine.Namespace != h.Namespace || !h.Spec.Selector.Matches(t.Machine.Labels)
	})
	slices.SortFunc(chosen, func(a, b Target) int { return byName(a.Machine, b.Machine) })
	for _, t := range chosen {
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
				Subject: "machine " + names[i], Reason: "NoController", Message: "it is unhealthy and belongs to no set, so nobody would replace it",
				Unblock: "replace it by hand",
			})
			continue
		}
		r.Remediate = append(r.Remediate, names[i])
	}
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
	if _, paused := h.Annotations[PausedAnnotation]; paused {
		return "Paused", "it is paused", "remove annotation " + PausedAnnotation
	}
	if r.Total-r.Healthy > most {
		return "TooManyUnhealthy", fmt.Sprintf("%d of %d machines are not healthy, and at most %d may be", r.Total-r.Healthy, r.Total, most),
			"find out what they have in common, or raise spec.maxUnhealthy"
	}
	return "", "", ""
}

// look judges one machine.
func (h *HealthCheck) look(t Target, now time.Time) Health {
	m := t.Machine
	v := Health{Machine: m.ObjectMeta.String(), Deleting: m.Deleting()}
	if m.Status.NodeRef != nil {
		v.Node = m.Status.NodeRef.Name
	}
	switch {
	case m.Status.Phase == lifecycle.PhaseFailed:
		v.Unhealthy, v.Why = true, "it has failed"
	case m.Status.NodeRef == nil:
		h.starting(&v, m, now)
	case t.Node == nil:
		v.Unhealthy, v.Why = true, "its node "+v.Node+" is gone"
	default:
		h.conditions(&v, t.Node, now)
	}
	v.Counts = !v.Unhealthy && v.Next.IsZero() && !v.Deleting
	return v
}

// starting judges a machine without a node.
func (h *HealthCheck) starting(v *Health, m *lifecycle.Machine, now time.Time) {
	limit := DefaultNodeStartupTimeout
	if t := h.Spec.NodeStartupTimeout; t != nil {
		limit = time.Duration(*t)
	}
	if limit == 0 {
		return
	}
	since := now
	if m.Status.LastUpdated != nil {
		since = *m.Status.LastUpdated
	}
	h.past(v, fmt.Sprintf("it has had no node for more than %v", limit), since, limit, now)
}

// conditions judges a machine by the conditions of its node.
func (h *HealthCheck) conditions(v *Health, n *lifecycle.Node, now time.Time) {
	for _, c := range h.Spec.UnhealthyConditions {
		i := slices.IndexFunc(n.Status.Conditions, func(o fairlead.NodeCondition) bool { return o.Type == c.Type })
		if i < 0 || n.Status.Conditions[i].Status != c.Status {
			continue
		}
		limit := time.Duration(c.Timeout)
		h.past(v, fmt.Sprintf("condition %s of its node is %s for more than %v", c.Type, c.Status, limit), n.Status.Conditions[i].LastTransitionTime, limit, now)
		if v.Unhealthy {
			return
		}
	}
}

// past judges by how long something lasts. What is not over yet is looked at
// again a second after it would be.
func (h *HealthCheck) past(v *Health, why string, since time.Time, limit time.Duration, now time.Time) {
	if now.Sub(since) > limit {
		v.Unhealthy, v.Why, v.Next = true, why, time.Time{}
		return
	}
	next := now.Add(limit - now.Sub(since) + time.Second)
	if v.Next.IsZero() || next.Before(v.Next) {
		v.Next = next
	}
}

// listed is how many names a message lists.
const listed = 10
