package fleet

import (
	"fmt"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
)

// Taints that the cluster autoscaler puts on nodes that it removes. Their
// values are the time, in seconds since 1970.
const (
	autoscalerTaint     = "ToBeDeletedByClusterAutoscaler"
	autoscalerCandidate = "DeletionCandidateOfClusterAutoscaler"
)

// Trigger is why a machine is deleted.
type Trigger string

// The documented triggers, and others.
const (
	TriggerRequest     Trigger = "Request"            // somebody has deleted the machine: oc delete machine
	TriggerAnnotation  Trigger = "Annotation"         // it is annotated, so that it goes first when its set scales down
	TriggerScaleDown   Trigger = "ScaleDown"          // its set has too many machines
	TriggerAutoscaler  Trigger = "Autoscaler"         // the cluster autoscaler does not need its node
	TriggerHealthCheck Trigger = "HealthCheck"        // a health check replaces it
	TriggerReplacement Trigger = "ControlPlaneUpdate" // its control plane has another machine in its place
	TriggerCluster     Trigger = "ClusterDeletion"    // the whole cluster is being deleted
)

// Scene is the input of Why. Everything but Machine may be left out; then the
// answer says less.
type Scene struct {
	Machine *lifecycle.Machine // not nil
	Node    *lifecycle.Node    // the machine's; nil if unknown
	Set     *SetScene          // of the machine; nil if it has none, or if unknown
	Checks  []HealthCheck      // of the machine's namespace
	Cluster *lifecycle.Cluster // that the machine belongs to; nil if unknown
	// Replaced is whether an up-to-date machine is ready in place of the
	// machine, in the control plane.
	Replaced bool
}

// SetScene is the state of a MachineSet.
type SetScene struct {
	Name     string // the set's
	Replicas int    // how many machines it should have
	Machines int    // how many it has, including those that are being deleted
}

// Cause is evidence for a trigger.
type Cause struct {
	Trigger Trigger   `json:"trigger"`        // which
	Text    string    `json:"text"`           // the evidence
	Since   time.Time `json:"since,omitzero"` // when that began, if known
	// Sure is whether it is proven, rather than likely.
	Sure bool `json:"sure"`
	// Deletes is whether it deletes machines by itself.
	Deletes bool `json:"deletes"`
}

// Why says why a machine is being deleted, or would be: the evidence for each
// trigger, what is sure before what is likely, and otherwise in the order of
// the Trigger constants. If a machine is being deleted and nothing else deletes
// it, somebody requested that manually. The annotation that marks a machine
// deletes nothing by itself; it decides that this machine goes and not another.
func Why(s *Scene, now time.Time) []Cause {
	m := s.Machine
	var sure, likely []Cause
	add := func(c Cause) {
		if c.Sure {
			sure = append(sure, c)
		} else {
			likely = append(likely, c)
		}
	}
	if c := s.annotation(); c != nil {
		add(*c)
	}
	if c := s.scaleDown(); c != nil {
		add(*c)
	}
	if c := s.autoscaler(); c != nil {
		add(*c)
	}
	if c := s.healthCheck(now); c != nil {
		add(*c)
	}
	if s.Replaced {
		add(Cause{Trigger: TriggerReplacement, Text: "an up-to-date machine is ready in its place", Deletes: true, Sure: m.Deleting()})
	}
	if s.Cluster != nil && s.Cluster.Deleting {
		add(Cause{Trigger: TriggerCluster, Text: "its cluster is being deleted", Deletes: true, Sure: true})
	}
	all := append(sure, likely...)
	if !m.Deleting() {
		return all
	}
	for _, c := range all {
		if c.Deletes {
			return all
		}
	}
	return append([]Cause{{
		Trigger: TriggerRequest, Text: "nothing else explains it, so somebody deleted it: the audit log shows who", Since: requested(m), Deletes: true,
	}}, all...)
}

// requested returns when the deletion of a machine was requested.
func requested(m *lifecycle.Machine) time.Time {
	at := *m.DeletionTimestamp
	if g := m.DeletionGracePeriodSeconds; g != nil && *g > 0 && *g < 1<<31 {
		at = at.Add(-time.Duration(*g) * time.Second)
	}
	return at
}

func (s *Scene) annotation() *Cause {
	for _, api := range [...]API{MachineAPI, ClusterAPI} {
		if key := markedBy(s.Machine, api); key != "" {
			return &Cause{Trigger: TriggerAnnotation, Text: "it has annotation " + key + ", so it is deleted first when its set scales down", Sure: true}
		}
	}
	return nil
}

func (s *Scene) scaleDown() *Cause {
	set := s.Set
	if set == nil || set.Machines <= set.Replicas {
		return nil
	}
	return &Cause{
		Trigger: TriggerScaleDown, Deletes: true, Sure: false,
		Text: fmt.Sprintf("MachineSet %s should have %d machines and has %d", set.Name, set.Replicas, set.Machines),
	}
}

func (s *Scene) autoscaler() *Cause {
	if s.Node == nil {
		return nil
	}
	for _, t := range s.Node.Spec.Taints {
		if t.Key != autoscalerTaint && t.Key != autoscalerCandidate {
			continue
		}
		c := Cause{Trigger: TriggerAutoscaler, Text: "its node has taint " + t.Key, Sure: t.Key == autoscalerTaint, Deletes: t.Key == autoscalerTaint}
		if n, err := strconv.ParseInt(t.Value, 10, 64); err == nil && n > 0 {
			c.Since = time.Unix(n, 0).UTC()
		}
		return &c
	}
	return nil
}

func (s *Scene) healthCheck(now time.Time) *Cause {
	for i := range s.Checks {
		h := &s.Checks[i]
		if h.Check() != nil || h.Namespace != s.Machine.Namespace || !h.Spec.Selector.Matches(s.Machine.Labels) || skipped(s.Machine) != "" {
			continue
		}
		if v := h.look(Target{Machine: s.Machine, Node: s.Node}, now); v.Unhealthy {
			return &Cause{Trigger: TriggerHealthCheck, Text: "health check " + h.Name + " finds it unhealthy: " + v.Why, Deletes: s.Machine.ControllerOf() != nil}
		}
	}
	return nil
}
