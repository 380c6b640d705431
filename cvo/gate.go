package cvo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
)

// Mode is what a pass over the manifests is for.
type Mode string

// The modes.
const (
	Initializing Mode = "Initializing" // the cluster is being installed: order and degradation matter little
	Updating     Mode = "Updating"     // it is updated to another release, runlevel by runlevel
	Reconciling  Mode = "Reconciling"  // it is at its release, and is kept there
)

// The reasons for which a ClusterOperator holds up an update.
const (
	ReasonOperatorVersions     = "ClusterOperatorNoVersions"   // the release does not say which versions to wait for
	ReasonOperatorNotAvailable = "ClusterOperatorNotAvailable" // it is not available
	ReasonOperatorDegraded     = "ClusterOperatorDegraded"     // it is degraded
	ReasonOperatorUpdating     = "ClusterOperatorUpdating"     // it has not reached the version
	ReasonOperatorMissing      = "UpdatePayloadResourceNotFound"
)

// Gate decides whether a ClusterOperator lets an update continue, given its
// report live, nil if there is none. want are the versions that the release
// waits for. It returns nil if the update may continue.
//
// The first rule that holds counts:
//
//  1. the release names no versions: an error;
//  2. there is no report: an error, which is retried;
//  3. Available is not True: an error;
//  4. Degraded is not False: an error after a while; while installing it is
//     only reported;
//  5. a version that the release names is not reached, except while installing:
//     a wait.
//
// Progressing does not count.
func Gate(name string, want []Operand, live *ClusterOperator, mode Mode) *TaskError {
	e := &TaskError{Name: name, Operator: true}
	if len(want) == 0 {
		e.Reason, e.Effect = ReasonOperatorVersions, EffectFail
		e.Message = fmt.Sprintf("Cluster operator %s does not declare expected versions", name)
		return e
	}
	if live == nil {
		e.Reason, e.Effect, e.Retry = ReasonOperatorMissing, EffectFail, true
		e.Message = fmt.Sprintf("Cluster operator %s has not reported: there is no ClusterOperator %s", name, name)
		return e
	}
	if c := fairlead.FindCondition(live.Status.Conditions, "Available"); c == nil || c.Status != True {
		e.Reason, e.Effect = ReasonOperatorNotAvailable, EffectFail
		e.Message = fmt.Sprintf("Cluster operator %s is not available%s", name, why(c))
		return e
	}
	if c := fairlead.FindCondition(live.Status.Conditions, "Degraded"); c == nil || c.Status != False {
		e.Reason, e.Effect = ReasonOperatorDegraded, EffectFailLater
		if mode == Initializing {
			e.Effect = EffectReport
		}
		e.Message = fmt.Sprintf("Cluster operator %s is degraded%s", name, why(c))
		return e
	}
	if undone := behind(want, live.Status.Versions); len(undone) > 0 && mode != Initializing {
		e.Reason, e.Effect = ReasonOperatorUpdating, EffectNone
		e.Message = fmt.Sprintf("Cluster operator %s is updating versions", name)
		e.Detail = strings.Join(undone, ", ")
		return e
	}
	return nil
}

// why returns the cause that a condition gives.
func why(c *Condition) string {
	switch {
	case c == nil:
		return ": it does not say why"
	case c.Reason == "" && c.Message == "":
		return ""
	case c.Message == "":
		return ": " + c.Reason
	case c.Reason == "":
		return ": " + c.Message
	}
	return ": " + c.Reason + ": " + c.Message
}

// behind lists the wanted versions that are not reached, in the order of want.
func behind(want, have []Operand) []string {
	var undone []string
	for _, w := range want {
		i := slices.IndexFunc(have, func(h Operand) bool { return h.Name == w.Name })
		switch {
		case i < 0:
			undone = append(undone, fmt.Sprintf("%s to %s", w.Name, w.Version))
		case have[i].Version != w.Version:
			undone = append(undone, fmt.Sprintf("%s from %s to %s", w.Name, have[i].Version, w.Version))
		}
	}
	return undone
}

// wanted returns the versions that a release's ClusterOperator manifest names.
func wanted(m *payload.Manifest) []Operand {
	var w ClusterOperator
	if json.Unmarshal(m.JSON, &w) != nil {
		return nil // as if it named none, which is an error itself
	}
	return w.Status.Versions
}
