package cvo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// operators evaluates those that the release contains.
func (i *inspection) operators() {
	if i.d.Operators == nil {
		i.gap("how far the cluster operators are updated", "oc get clusteroperators -o yaml")
		return
	}
	c := &i.out.Completion
	for _, o := range releaseOperators(i.d.Operators) {
		i.operator(o)
	}
	slices.SortFunc(i.out.Operators, func(a, b OperatorReport) int { return strings.Compare(a.Name, b.Name) })
	n := len(i.out.Operators)
	if n == 0 {
		i.gap("how far the cluster operators are updated: the dump has none of them", "oc get clusteroperators -o yaml")
		return
	}
	if c.Known = i.out.Target != ""; c.Known {
		c.Absent = len(i.absent())
		all := n + c.Absent
		c.Percent = (200*c.Updated + all) / (2 * all)
	}
	if !i.out.Updating && c.Known && c.Updated < n {
		i.find(Finding{
			Subject: "clusterversion version", Severity: SeverityWarning, Reason: "OperatorsBehind", Since: i.out.Since, Owner: "administrator",
			Message: fmt.Sprintf("the history says that %s is complete, and %d of %d operators are at another version", i.out.Target, n-c.Updated, n),
			Next:    "check the versions of these operators",
		})
	}
}

// releaseOperators returns those that a release contains: by its annotations, or all if
// none has one, as in a dump whose annotations were removed.
func releaseOperators(all []ClusterOperator) []*ClusterOperator {
	var marked, every []*ClusterOperator
	for k := range all {
		o := &all[k]
		every = append(every, o)
		for key := range o.Annotations {
			if strings.HasPrefix(key, "include.release.openshift.io/") || strings.HasPrefix(key, "exclude.release.openshift.io/") {
				marked = append(marked, o)
				break
			}
		}
	}
	if len(marked) == 0 {
		return every
	}
	return marked
}

// operator evaluates one operator.
func (i *inspection) operator(o *ClusterOperator) {
	r := OperatorReport{Name: o.Name, State: "waiting", Health: "healthy"}
	if k := slices.IndexFunc(o.Status.Versions, func(v Operand) bool { return v.Name == "operator" }); k >= 0 {
		r.Version = o.Status.Versions[k].Version
	}
	c := &i.out.Completion
	available, degraded, progressing := fairlead.FindCondition(o.Status.Conditions, "Available"), fairlead.FindCondition(o.Status.Conditions, "Degraded"), fairlead.FindCondition(o.Status.Conditions, "Progressing")
	// To the same version for several architectures only images change. Which
	// ones machine-config has is not reported, so it counts when everything is
	// complete.
	there := i.out.Target != "" && r.Version == i.out.Target && !(i.out.MultiArch && i.out.Updating && o.Name == "machine-config")
	switch {
	case there:
		r.State = "updated"
		c.Updated++
	case progressing != nil && progressing.Status == True:
		r.State = "updating"
		c.Updating++
		r.take(progressing)
	default:
		c.Waiting++
	}
	switch {
	case available == nil || available.Status != True:
		r.Health = "unavailable"
		c.Unavailable++
		r.take(available)
		i.unhealthy(&r, "is not available", available == nil, 20*time.Minute)
	case degraded != nil && degraded.Status == True:
		r.Health = "degraded"
		c.Degraded++
		r.take(degraded)
		i.unhealthy(&r, "is degraded", false, 40*time.Minute)
	default:
		c.Healthy++
	}
	i.out.Operators = append(i.out.Operators, r)
}

func (r *OperatorReport) take(c *Condition) {
	if c != nil {
		r.Since, r.Reason, r.Message = c.LastTransitionTime, c.Reason, c.Message
	}
}

// unhealthy reports an operator that is unhealthy.
func (i *inspection) unhealthy(r *OperatorReport, what string, silent bool, patience time.Duration) {
	f := Finding{
		Subject: operatorSubject(r.Name), Severity: SeverityInfo, Reason: cmp.Or(r.Reason, "Unknown"), Since: r.Since,
		Message: "cluster operator " + r.Name + " " + what, Owner: "operator " + r.Name,
	}
	if said := clauseOf(r.Message, most); said != "" {
		f.Message += ": " + said
	}
	if silent {
		f.Message = "cluster operator " + r.Name + " does not say whether it is available"
	}
	age := i.now.Sub(r.Since)
	switch {
	case silent, age >= 5*time.Minute && age <= patience:
		f.Severity = SeverityWarning
	case age > patience:
		f.Severity = SeverityError
	}
	f.Next = fmt.Sprintf("up to %s is normal during an update", minutes(patience))
	if age > patience {
		f.Next = fmt.Sprintf("more than %s is not normal: check the operator's conditions and its pods", minutes(patience))
	}
	if i.out.Updating && r.State != "updated" {
		f.Next += "; the update waits for it"
	}
	i.find(f)
}

// curve is the share of an update's time that has passed when a share of its
// operators is done, as fitted by the authors of oc to updates of one cluster:
// the coefficients of polynomials up to these shares.
var curve = []struct {
	below float64
	terms []float64
}{
	{0.25, []float64{-0.03078788, 2.62886, -3.823954}},
	{0.9, []float64{0.1851215, 1.64994, -4.676898, 5.451824, -2.125286}},
	{2, []float64{25053.32, -107394.3, 172527.2, -123107, 32921.81}},
}

func passed(share float64) float64 {
	for _, c := range curve {
		if share < c.below {
			sum, power := 0.0, 1.0
			for _, t := range c.terms {
				sum += t * power
				power *= share
			}
			return sum
		}
	}
	return 1
}

// estimate says how long the control plane still takes, by the share of operators
// that were done when one of them last started or finished something, or, if it
// is too early for that, by the duration of the last update.
func (i *inspection) estimate() {
	n := len(i.out.Operators)
	if !i.out.Updating || !i.out.Completion.Known || i.out.MultiArch || i.pausedMaster() != nil {
		return
	}
	if i.out.Completion.Updated == n { // only the rest of the manifests is left
		if left := i.usual() - i.out.Duration; left < -30*time.Minute {
			i.out.Remaining = &left
		}
		return
	}
	var last, config time.Time
	for _, o := range releaseOperators(i.d.Operators) {
		p := fairlead.FindCondition(o.Status.Conditions, "Progressing")
		if p == nil {
			continue
		}
		if p.LastTransitionTime.After(last) {
			last = p.LastTransitionTime
		}
		if o.Name == "machine-config" && p.Status == True {
			config = p.LastTransitionTime
		}
	}
	if !config.IsZero() && n-i.out.Completion.Updated == 1 {
		last = config // the others come and go as nodes restart
	}
	if !last.After(i.out.Since) {
		last = i.now
	}
	total := i.usual()
	share := float64(i.out.Completion.Updated) / float64(n)
	if p := passed(share); share > 0 && p > 0 && last.Sub(i.out.Since) > 5*time.Minute {
		total = time.Duration(float64(last.Sub(i.out.Since)) / p)
	}
	left := total - i.out.Duration
	const caution = 1.2
	if left < 0 {
		left = time.Duration(float64(left) / caution)
	} else {
		left = time.Duration(float64(left) * caution)
	}
	left = left.Truncate(time.Second)
	i.out.Remaining = &left
}

// usual is how long the last update took, or an hour if unknown.
func (i *inspection) usual() time.Duration {
	h := i.d.Version.Status.History
	for k := 1; k < len(h)-1; k++ { // the last entry is the installation
		if h[k].State == Completed && h[k].CompletionTime != nil {
			return h[k].CompletionTime.Sub(h[k].StartedTime)
		}
	}
	return time.Hour
}

// assess sums everything up in one word.
func (i *inspection) assess() {
	r := i.out
	unknown := r.Target == "" || !r.Completion.Known
	pools := slices.ContainsFunc(r.Pools, func(p PoolReport) bool { return p.State != "updated" })
	switch {
	case slices.ContainsFunc(r.Pools, func(p PoolReport) bool { return p.Degraded > 0 }):
		r.Assessment = AssessDegraded
	case r.Remaining != nil && *r.Remaining < -10*time.Minute:
		r.Assessment = AssessStalled
	case r.Remaining != nil && *r.Remaining < 0:
		r.Assessment = AssessSlow
	case unknown:
		r.Assessment = AssessUnknown
	case r.Updating:
		r.Assessment = AssessProgressing
	case i.d.Pools == nil || i.d.Nodes == nil || i.stray() > 0 || slices.ContainsFunc(r.Pools, func(p PoolReport) bool { return p.State == "unknown" }):
		r.Assessment = AssessUnknown
	case pools:
		r.Assessment = AssessCompleted
	default:
		r.Assessment = AssessNotUpdating
	}
}

// headline says what matters most.
func (i *inspection) headline() {
	r := i.out
	what := r.Where()
	bad := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Severity == SeverityError })
	if bad < 0 {
		bad = slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Severity == SeverityWarning })
	}
	switch {
	case bad >= 0:
		f := &r.Findings[bad]
		what += "; " + words.Shorten(f.Message, 160)
		if n := len(f.Explains); n > 1 {
			what += fmt.Sprintf(" (this explains %d other reports)", n)
		}
	case len(r.Gaps) > 0:
		what += "; no problem was found, but information is missing"
	case r.Updating && r.Completion.Updating > 0:
		what += fmt.Sprintf(", and is proceeding well: %s progressing", list(i.updating()))
	case r.Updating:
		what += ", and is proceeding well"
	case r.Assessment == AssessCompleted:
		what += "; its nodes are still being updated"
	default:
		what += ", and all is well"
	}
	r.Headline = what
}

// Where says where the cluster is, or where it is on its way to, without what is wrong: with
// this the headline begins.
func (r *Report) Where() string {
	switch {
	case r.Target == "":
		return "the target release is unknown"
	case r.Updating && r.Install:
		return "the cluster is being installed with " + r.Target
	case r.Updating && r.MultiArch:
		return "the cluster is being updated to " + r.Target + " for several architectures"
	case r.Updating:
		return "the cluster is being updated to " + r.Target
	}
	return "the control plane is at " + r.Target
}

// updating returns the operators that are progressing.
func (i *inspection) updating() []string {
	var names []string
	for _, o := range i.out.Operators {
		if o.State == "updating" {
			names = append(names, o.Name)
		}
	}
	return names
}
