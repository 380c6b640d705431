package cvo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/shell"
)

// pausedMaster returns the pool of the control plane if it is paused and not updated: the
// machine-config operator waits for it, and the update with it.
func (i *inspection) pausedMaster() *PoolReport {
	for k := range i.out.Pools {
		if p := &i.out.Pools[k]; p.Name == rollout.PoolMaster && p.State == "paused" && p.Updated < p.Total {
			return p
		}
	}
	return nil
}

// stalled reports an update that has not moved for too long: a word in the assessment alone
// would be overlooked.
func (i *inspection) stalled() {
	r := i.out
	logs := "oc -n openshift-cluster-version logs deployment/cluster-version-operator --tail=100"
	f := Finding{Subject: "clusterversion version", Severity: SeverityError, Reason: string(r.Assessment), Since: i.moved(), Owner: "cluster-version operator", Command: logs}
	took := r.Duration.Round(time.Minute)
	if p := i.pausedMaster(); p != nil && r.Updating {
		f.Reason, f.Owner = "ControlPlanePaused", "administrator"
		f.Message = fmt.Sprintf("the pool %s is paused with %d of %d nodes updated, and the update waits for it", p.Name, p.Updated, p.Total)
		f.Next, f.Command = "unpause it: the control plane must not stay paused", PauseCommand(p.Name, false)
		i.find(f)
		return
	}
	switch {
	case r.Assessment == AssessStalled && r.Completion.Updated == len(r.Operators):
		f.Message = fmt.Sprintf("the update is stalled: every operator is at %s, and it is not complete after %s", r.Target, hours(took))
	case r.Assessment == AssessStalled:
		f.Message = fmt.Sprintf("the update is stalled: %s after %s, where %s was expected", i.howFar(), hours(took), hours((r.Duration + *r.Remaining).Truncate(time.Minute)))
	default:
		return
	}
	f.Next = "look at what it waits for"
	if w := i.waiting(); w != "" {
		f.Next += ": " + w
	}
	if slices.ContainsFunc(r.Findings, func(x Finding) bool { return x.Severity != SeverityInfo }) {
		f.Severity = SeverityWarning // what holds it up leads
	}
	i.find(f)
}

// hours writes a duration of hours and minutes: 72h or 3h04m.
func hours(d time.Duration) string {
	h, m := int(d.Hours()), int(d.Minutes())%60
	if h == 0 {
		return fmt.Sprintf("%dm", m)
	}
	if m == 0 {
		return fmt.Sprintf("%dh", h)
	}
	return fmt.Sprintf("%dh%02dm", h, m)
}

// done finds how far the manifests are, as in 4 of 810 done.
var done = regexp.MustCompile(`(\d+ of \d+) done`)

// howFar says how far the update is.
func (i *inspection) howFar() string {
	if c := fairlead.FindCondition(i.d.Version.Status.Conditions, "Progressing"); c != nil {
		if m := done.FindStringSubmatch(c.Message); m != nil {
			return m[1] + " manifests done"
		}
	}
	return fmt.Sprintf("%d of %d operators updated", i.out.Completion.Updated, len(i.out.Operators)+i.out.Completion.Absent)
}

// waiting is what the ClusterVersion says that it waits for.
func (i *inspection) waiting() string {
	if c := fairlead.FindCondition(i.d.Version.Status.Conditions, "Progressing"); c != nil {
		if _, after, ok := strings.Cut(c.Message, "waiting "); ok {
			return clauseOf("waiting "+after, 120)
		}
	}
	return ""
}

// moved is when the update last moved: when an operator or the ClusterVersion last changed.
func (i *inspection) moved() (last time.Time) {
	for k := range i.d.Operators {
		for _, c := range i.d.Operators[k].Status.Conditions {
			if c.LastTransitionTime.After(last) && c.LastTransitionTime.After(i.out.Since) {
				last = c.LastTransitionTime
			}
		}
	}
	if last.IsZero() {
		return i.out.Since
	}
	return last
}

// PauseCommand pauses or unpauses a pool.
func PauseCommand(pool string, paused bool) string {
	return shell.Command("oc patch machineconfigpool %s --type merge -p %s", pool, shell.JSON(map[string]any{"spec": map[string]any{"paused": paused}}))
}
