package cvo

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/durations"
	"github.com/fairlead/fairlead/internal/shell"
)

// Dump is what a dump of a cluster holds, for Inspect. Any part may be missing: a
// nil list was not dumped, an empty one says that there are none.
type Dump struct {
	Version   *ClusterVersion   // nil if unknown
	Operators []ClusterOperator // the reports of operators
	Pools     []Pool            // the pools of nodes
	Nodes     []fairlead.Node   // the nodes
	// Configs are the releases that machine configurations are from, by name of the
	// configuration.
	Configs map[string]string
	Alerts  []Alert // from the cluster's monitoring
	// Pods and Budgets show which budget holds the drain of a node, and Gates what an
	// administrator must acknowledge; nil if unknown.
	Pods    []fairlead.Pod
	Budgets []fairlead.PodDisruptionBudget // see Pods
	Gates   *AdminGates                    // see Pods
	// At is the latest time at which the server is known to have answered, such as a
	// heartbeat; zero if unknown.
	At time.Time
	// Partly is what is known to be missing of lists that are not nil.
	Partly []Gap
}

// Pool is a MachineConfigPool: the fields of rollout.Pool.
type Pool = rollout.Pool

// Assessment is the state of an update, in one word.
type Assessment string

// The assessments.
const (
	AssessUnknown     Assessment = "Unknown"     // the data does not say
	AssessNotUpdating Assessment = "NotUpdating" // the control plane and all pools are at their release
	AssessCompleted   Assessment = "Completed"   // the control plane is updated, and pools are being updated
	AssessProgressing Assessment = "Progressing" // the control plane is being updated
	AssessSlow        Assessment = "Slow"        // it is being updated, but slower than expected
	AssessStalled     Assessment = "Stalled"     // it is being updated, but much slower than expected
	AssessDegraded    Assessment = "Degraded"    // nodes are stuck
)

// Report says how far the update of a cluster is, and what delays it. Information
// that is missing from the dump is listed in Gaps, and never counts as good news.
type Report struct {
	Headline   string           `json:"headline"`            // the most important fact, in one sentence
	Assessment Assessment       `json:"assessment"`          // in one word
	From       string           `json:"from"`                // the version before the update; empty if unknown
	Incomplete bool             `json:"incomplete"`          // From was never reached completely
	Install    bool             `json:"install"`             // the cluster is being installed, or was never updated
	MultiArch  bool             `json:"multiArch"`           // it is updated to the same version for several architectures
	Target     string           `json:"target"`              // the target version; empty if unknown
	Updating   bool             `json:"updating"`            // the control plane is not known to be at the target
	Since      time.Time        `json:"since,omitzero"`      // when the update began
	Until      *time.Time       `json:"until,omitempty"`     // when the control plane reached the target
	Duration   time.Duration    `json:"duration,omitempty"`  // from Since to Until, or to now
	Remaining  *time.Duration   `json:"remaining,omitempty"` // estimated; negative if it should be over; nil if unknown
	Completion Completion       `json:"completion"`          // of the operators
	Operators  []OperatorReport `json:"operators"`           // those that belong to the release, by name
	Pools      []PoolReport     `json:"pools"`               // all pools, control plane first, then by name
	Nodes      []NodeReport     `json:"nodes"`               // all nodes, by pool, what needs attention first, then by name
	Findings   []Finding        `json:"findings"`            // causes, worst first, each with what it explains
	Gaps       []Gap            `json:"gaps"`                // what is not known, and how to find out
}

// Gap is information that is missing from a dump.
type Gap struct {
	What string `json:"what"` // what is not known
	How  string `json:"how"`  // how to get it
}

// Completion counts operators. All numbers are 0 if the operators are not known.
type Completion struct {
	Known       bool `json:"known"`       // the operators are known
	Percent     int  `json:"percent"`     // updated, rounded to the nearest
	Updated     int  `json:"updated"`     // at the target
	Updating    int  `json:"updating"`    // not at the target, and progressing
	Waiting     int  `json:"waiting"`     // not at the target, and not progressing
	Healthy     int  `json:"healthy"`     // available and not degraded
	Unavailable int  `json:"unavailable"` // that do not report that they are available
	Degraded    int  `json:"degraded"`    // available, but degraded
	Absent      int  `json:"absent"`      // that the cluster must have and the dump lacks; they count as not updated
}

// OperatorReport is the state of one operator.
type OperatorReport struct {
	Name    string    `json:"name"`              // of the operator
	State   string    `json:"state"`             // updated, updating or waiting
	Health  string    `json:"health"`            // healthy, degraded or unavailable
	Version string    `json:"version"`           // the version that it has reached
	Since   time.Time `json:"since,omitzero"`    // since when it has its health, or has been progressing
	Reason  string    `json:"reason,omitempty"`  // as it reports it
	Message string    `json:"message,omitempty"` // the same, in a sentence or more
}

// PoolReport is the state of one pool.
type PoolReport struct {
	Name     string `json:"name"`     // of the pool
	State    string `json:"state"`    // updated, updating, pending, paused, degraded, empty or unknown
	Total    int    `json:"total"`    // nodes; -1 if unknown
	Updated  int    `json:"updated"`  // nodes at the target
	Draining int    `json:"draining"` // nodes that are being drained
	Degraded int    `json:"degraded"` // nodes that are stuck
	Down     int    `json:"down"`     // nodes that are not available; those that are only cordoned do not count
	Cordoned int    `json:"cordoned"` // nodes that are ready and take no pods, and are not being drained by the update
	Unknown  int    `json:"unknown"`  // nodes whose release is not known, including those that are not in the dump
}

// NodeReport is the state of one node.
type NodeReport struct {
	Name     string    `json:"name"`              // of the node
	Pool     string    `json:"pool"`              // whose configuration it runs; empty if no pool selects it
	State    string    `json:"state"`             // updated, updating, draining, pending, paused, degraded or unknown
	Version  string    `json:"version,omitempty"` // of the release that its configuration is from, if known
	Down     bool      `json:"down"`              // no pods are placed on it, and not because it is merely cordoned
	Cordoned bool      `json:"cordoned"`          // it is ready, and somebody has cordoned it
	Since    time.Time `json:"since,omitzero"`    // when it stopped being ready
	Message  string    `json:"message,omitempty"` // why it is down or stuck
}

// Severity says how urgent a finding is.
type Severity string

// The severities, worst first.
const (
	SeverityError   Severity = "error"   // somebody must do something
	SeverityWarning Severity = "warning" // somebody should look
	SeverityInfo    Severity = "info"    // nothing is wrong
)

// Finding is one problem or notice: a cause, if known, with the symptoms that it
// explains.
type Finding struct {
	Subject  string    `json:"subject"`            // what it is about: clusteroperator etcd
	Severity Severity  `json:"severity"`           // how bad it is
	Reason   string    `json:"reason"`             // a word in CamelCase
	Since    time.Time `json:"since,omitzero"`     // since when, if known
	Message  string    `json:"message"`            // what is wrong
	Owner    string    `json:"owner,omitempty"`    // who can do something about it
	Next     string    `json:"next"`               // what to do, what is normal, or what comes next
	Command  string    `json:"command,omitempty"`  // a command that does it, or shows what to do
	Explains []Symptom `json:"explains,omitempty"` // its symptoms, in the order in which they would be reported on their own
}

// Symptom is something that a finding explains.
type Symptom struct {
	Subject  string    `json:"subject"`        // what it is about
	Severity Severity  `json:"severity"`       // how bad it is
	Reason   string    `json:"reason"`         // a word in CamelCase
	Since    time.Time `json:"since,omitzero"` // since when, if known
	Message  string    `json:"message"`        // what is wrong
}

// MarshalJSON writes durations as text, such as 5m0s.
func (r *Report) MarshalJSON() ([]byte, error) { return durations.Marshal(r) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Report) UnmarshalJSON(data []byte) error {
	return durations.Unmarshal(data, r)
}

// Well reports whether the cluster is fine: there is no warning, no error, and
// nothing that is not known.
func (r *Report) Well() bool {
	return len(r.Gaps) == 0 && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity != SeverityInfo })
}

// Inspect says, from a dump, how far the update of a cluster is, and what delays it.
// now is the reference for durations; zero means Dump.At, or if that is zero the latest
// time that the objects mention.
//
//  1. What the dump does not contain is a gap, with the way to get it; it is never
//     taken for good news. That includes nodes that a pool counts, and operators
//     that the ClusterVersion names or that a cluster with its own control plane
//     must have, given its capabilities.
//  2. The operators that count are those that a release contains: they have an
//     annotation include.release.openshift.io/… or exclude.release.openshift.io/….
//     If none has one, all count.
//  3. A node is updated if rollout.Updated says so and its configuration is from the
//     target release.
//  4. Symptoms with one cause are one finding: a node that is not ready and what
//     operators report about it, one error on several nodes, and a ClusterVersion
//     that fails because of operators that are reported.
func Inspect(d *Dump, now time.Time) *Report {
	if now.IsZero() {
		now = d.latest()
	}
	i := &inspection{d: d, now: now, out: &Report{
		Operators: []OperatorReport{}, Pools: []PoolReport{}, Nodes: []NodeReport{}, Findings: []Finding{}, Gaps: []Gap{},
	}}
	i.version()
	i.operators()
	i.pools()
	i.missing()
	i.out.Gaps = append(i.out.Gaps, d.Partly...)
	i.conditions()
	if i.d.Version != nil {
		i.refused()
	}
	i.alerts()
	i.estimate()
	i.assess()
	i.stalled()
	i.causes()
	worst := func(f Finding) int {
		return slices.Index([]Severity{SeverityError, SeverityWarning, SeverityInfo}, f.Severity)
	}
	slices.SortStableFunc(i.out.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(worst(a), worst(b)), cmp.Compare(len(b.Explains), len(a.Explains)), a.Since.Compare(b.Since), strings.Compare(a.Subject, b.Subject))
	})
	i.headline()
	return i.out
}

// latest is the latest time that the dump mentions: heartbeats of nodes count, because a
// cluster that is stuck changes nothing else.
func (d *Dump) latest() time.Time {
	last := d.At
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
	for i := range d.Nodes {
		for _, c := range d.Nodes[i].Status.Conditions {
			see(c.LastTransitionTime)
			see(c.LastHeartbeatTime)
		}
	}
	for _, p := range d.Pools {
		conditions(p.Status.Conditions)
	}
	return last
}

// inspection is a report that is being built.
type inspection struct {
	d   *Dump
	now time.Time
	out *Report
}

func (i *inspection) find(f Finding) { i.out.Findings = append(i.out.Findings, f) }

func (i *inspection) gap(what, how string) { i.out.Gaps = append(i.out.Gaps, Gap{what, how}) }

// version reads the history.
func (i *inspection) version() {
	if i.d.Version == nil || len(i.d.Version.Status.History) == 0 {
		i.gap("the target release, and when the update began", "oc get clusterversion version -o yaml")
		i.out.Updating = true
		return
	}
	h := i.d.Version.Status.History
	i.out.Target, i.out.Since, i.out.Install = h[0].Version, h[0].StartedTime, len(h) == 1
	i.out.Updating = h[0].State != Completed
	i.out.Duration = i.now.Sub(h[0].StartedTime)
	if !i.out.Updating {
		if i.out.Until = h[0].CompletionTime; h[0].CompletionTime != nil {
			i.out.Duration = h[0].CompletionTime.Sub(h[0].StartedTime)
		}
	}
	if i.out.Install {
		return
	}
	i.out.From, i.out.Incomplete = h[1].Version, h[1].State != Completed
	i.out.MultiArch = h[0].Version == h[1].Version && h[0].Image != h[1].Image
	if i.out.Incomplete && i.out.Updating {
		message := fmt.Sprintf("the previous update to %s was never completed", h[1].Version)
		if k := completedAfter(h, 0); k >= 0 {
			message += fmt.Sprintf("; the last complete one was to %s", h[k].Version)
		}
		i.find(Finding{
			Subject: "clusterversion version", Severity: SeverityWarning, Reason: "PreviousUpdateIncomplete", Since: h[0].StartedTime,
			Message: message, Owner: "administrator", Next: "nothing: the current update brings every component to " + h[0].Version,
		})
	}
}

// conditions reports the conditions of the cluster version.
func (i *inspection) conditions() {
	if i.d.Version == nil {
		return
	}
	list := i.d.Version.Status.Conditions
	if fairlead.FindCondition(list, "Failing") == nil {
		i.gap("whether the ClusterVersion is failing: it has no condition Failing", "oc -n openshift-cluster-version logs -l k8s-app=cluster-version-operator --tail -1")
	}
	for _, c := range list {
		f := Finding{
			Subject: "clusterversion version", Severity: SeverityWarning, Reason: cmp.Or(c.Reason, c.Type), Since: c.LastTransitionTime, Owner: "administrator",
			Message: clauseOf(c.Message, most), Next: "fix the cause, or revert spec.desiredUpdate",
		}
		switch {
		case c.Type == "Failing" && c.Status == Unknown:
			f.Message, f.Next = "the update is slower than usual: "+f.Message, "check the operators that it waits for; nothing has failed"
		case c.Type == "Failing" && c.Status != False:
			f.Message, f.Next = "the cluster version fails: "+f.Message, "fix the reported cause"
			if i.d.Version.UnderWay() != nil {
				f.Next += "; the update then continues by itself"
			}
			f.Command = failingCommand(c.Message)
		case c.Type == "RetrievedUpdates" && c.Status != True:
			f.Severity, f.Message, f.Next = SeverityInfo, "the list of updates may be old: "+f.Message, noUpdates(i.d.Version, &c)
		default:
			continue
		}
		i.find(f)
	}
}

// failingObject finds the object that a failing update names.
var failingObject = regexp.MustCompile(`Could not update (deployment|daemonset|job|configmap|secret|service|role|rolebinding|serviceaccount) "([^"/\s]+)/([^"/\s]+)"`)

// FailingObjects returns the objects that the message of a Failing condition says could not be
// updated, as kind in lower case, namespace and name, in its order. Those without a namespace are left out.
func FailingObjects(message string) (objects [][3]string) {
	for _, m := range failingObject.FindAllStringSubmatch(message, -1) {
		objects = append(objects, [3]string(m[1:]))
	}
	return objects
}

// failingCommand shows what a failing update names first, or is empty.
func failingCommand(message string) string {
	all := FailingObjects(message)
	if len(all) == 0 {
		return ""
	}
	return shell.Command("oc -n %s describe %s %s", all[0][1], all[0][0], all[0][2])
}

// refused reports a requested update that the cluster does not begin.
func (i *inspection) refused() {
	r := RefusedUpdate(i.d.Version)
	if r == nil {
		return
	}
	f := Finding{
		Subject: "clusterversion version", Severity: SeverityError, Reason: r.Check, Since: r.Since, Owner: "administrator",
		Message: fmt.Sprintf("the update to %s was refused: %s", r.Name(), r.Cause),
	}
	f.Next, f.Command = r.Help(i.d.Version, i.d.Gates)
	i.find(f)
}

// alerts reports alerts that fire and have begun since the update did, or are known
// to matter to updates.
func (i *inspection) alerts() {
	if i.d.Alerts == nil {
		i.gap("which alerts are firing", "oc get --raw '/api/v1/namespaces/openshift-monitoring/services/https:thanos-querier:9091/proxy/api/v1/alerts'")
		return
	}
	for k := range i.d.Alerts {
		a := &i.d.Alerts[k]
		severity := a.Labels["severity"]
		if a.State == "pending" || a.Labels["alertname"] == "" || severity != "warning" && severity != "critical" ||
			!a.ActiveAt.After(i.out.Since) && a.kind() == alertOther {
			continue
		}
		f := Finding{
			Subject: "alert " + a.Labels["alertname"], Severity: SeverityWarning, Reason: "AlertFiring", Since: a.ActiveAt, Owner: cmp.Or(a.Labels["namespace"], "administrator"),
			Message: "alert: " + cmp.Or(a.Annotations["summary"], a.Labels["alertname"]), Next: cmp.Or(a.Annotations["runbook_url"], a.Annotations["description"], a.Annotations["message"], "check the alert"),
		}
		if severity == "critical" {
			f.Severity = SeverityError
		}
		i.find(f)
	}
}
