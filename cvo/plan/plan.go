package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver"
)

// Kind is what a step does.
type Kind string

// The kinds of steps. Of steps that could be next, a plan takes them in this order.
const (
	ReplaceMember Kind = "ReplaceMember" // a member of etcd that does not answer is replaced
	FixBudget     Kind = "FixBudget"     // a disruption budget that never lets a pod go is changed
	FreeRoom      Kind = "FreeRoom"      // a node is added, so that pods have a place while others restart
	OutOfService  Kind = "OutOfService"  // a node is drained and stays cordoned
	Unpause       Kind = "Unpause"       // a pool may restart its nodes again
	Roll          Kind = "Roll"          // the nodes of a pool restart into the release
	MoveOperator  Kind = "UpdateOperator"
	ChangeClients Kind = "ChangeClients" // clients of an API that goes away use another one
	Acknowledge   Kind = "Acknowledge"   // the administrator says that a change is known
	Pause         Kind = "Pause"         // a pool keeps its nodes as they are
	MoveCluster   Kind = "UpdateCluster"
)

// Plan is what to do, in its order.
type Plan struct {
	From   string        `json:"from"`             // the release that runs
	To     string        `json:"to"`               // the release that will; From where the goal names none
	Steps  []PlanStep    `json:"steps"`            // in their order; empty where nothing is to be done
	Cost   Cost          `json:"cost"`             // what was minimised
	Takes  time.Duration `json:"takes"`            // until the last step is over, without waiting for windows
	Ends   time.Time     `json:"ends,omitzero"`    // when the last step ends, if the first begins as the situation was observed
	Unseen []Unseen      `json:"unseen,omitempty"` // what was not seen and steps rest on, each once
	Proof  []Bound       `json:"proof,omitempty"`  // that there is no better plan; see Check
}

// Cost is what plans are compared by; see Preference.
type Cost struct {
	Unknown  int `json:"unknown"`  // risks that nobody has evaluated
	Steps    int `json:"steps"`    // steps
	Restarts int `json:"restarts"` // nodes that restart or go out of service, each as often as it does
}

// PlanStep is one step of a plan.
type PlanStep struct {
	Kind    Kind   `json:"kind"`              // what it does
	Subject string `json:"subject,omitempty"` // of what: a pool, an operator's package, an API, a gate, namespace/name of a budget, a member, a node
	From    string `json:"from,omitempty"`    // the release, or the CSV, that it leads from
	To      string `json:"to,omitempty"`      // the one that it leads to
	// With are the CSVs that the same install plan installs: of operators none of which
	// can go alone.
	With    []string `json:"with,omitempty"`
	Release string   `json:"release"` // the release that the cluster runs when it is done
	// Why says what asks for it, Before what must hold when it begins, After how one
	// sees that it is done, and Back how to take it back.
	Why    string `json:"why"`
	Before string `json:"before"` // see Why
	After  string `json:"after"`  // see Why
	Back   string `json:"back"`   // see Why
	// Owner does it, by Command.
	Owner   string `json:"owner"`
	Command string `json:"command"` // see Owner
	// Takes is about how long, and Basis what that is estimated from. Offset is how long
	// after the first step it begins, without waiting for windows: one step follows the
	// other, but pools restart their nodes at the same time. Begins is when, if the plan
	// goes as estimated and within the windows.
	Takes  time.Duration `json:"takes"`
	Basis  string        `json:"basis"`            // see Takes
	Offset time.Duration `json:"offset,omitempty"` // see Takes
	Begins time.Time     `json:"begins,omitzero"`  // see Takes
	// Restarts are the nodes that restart, and Rounds the rounds of their drains.
	Restarts int `json:"restarts,omitempty"`
	Rounds   int `json:"rounds,omitempty"` // see Restarts
	// Unseen is what it rests on that nobody has looked at.
	Unseen []Unseen `json:"unseen,omitempty"`
}

// Unseen is something that nobody has looked at.
type Unseen struct {
	What    string `json:"what"`    // what is not known
	Command string `json:"command"` // what tells
}

// Bound is a proof for one independent part of the problem: that nothing meets
// its constraints and costs less.
type Bound struct {
	Part string `json:"part"` // which part
	// Certificate proves what the part costs at least by each criterion, in the order
	// of the preference.
	Certificate *solver.OptimumCertificate `json:"certificate"`
}

// String writes the plan as a list that can be followed.
func (p *Plan) String() string {
	var b strings.Builder
	switch {
	case len(p.Steps) == 0:
		return "nothing to do: the cluster already meets the goal\n"
	case p.From == p.To:
		fmt.Fprintf(&b, "%s at %s, about %s", count(len(p.Steps), "step"), p.From, short(p.Takes))
	default:
		fmt.Fprintf(&b, "%s from %s to %s, about %s", count(len(p.Steps), "step"), p.From, p.To, short(p.Takes))
	}
	if p.Cost.Restarts > 0 {
		fmt.Fprintf(&b, ", %s of nodes", count(p.Cost.Restarts, "restart"))
	}
	b.WriteString("; no plan is better\n")
	for i, s := range p.Steps {
		takes := short(s.Takes)
		if first := firstBeside(p.Steps, i); first < i {
			takes += fmt.Sprintf(", at the same time as step %d", first+1)
		}
		fmt.Fprintf(&b, "%3d. %s (%s)\n     why: %s\n     do: %s\n     done when: %s\n     undo: %s\n", i+1, s, takes, s.Why, s.Command, s.After, s.Back)
		for _, u := range s.Unseen {
			fmt.Fprintf(&b, "     unknown: %s; to find out: %s\n", u.What, u.Command)
		}
	}
	return b.String()
}

// firstBeside returns the first of the steps that begin at the same time as one, which itself
// may be the only one: pools that follow one another all roll as soon as the cluster has moved.
func firstBeside(steps []PlanStep, i int) int {
	for i > 0 && steps[i].Kind == Roll && steps[i-1].Kind == Roll {
		i--
	}
	return i
}

// String says what the step does, in a line.
func (s PlanStep) String() string {
	switch s.Kind {
	case ReplaceMember:
		return "replace the etcd member " + s.Subject
	case FixBudget:
		return "make the budget " + s.Subject + " allow one disruption"
	case FreeRoom:
		return "make room for the pods of " + s.Subject
	case OutOfService:
		return "take the node " + s.Subject + " out of service"
	case Unpause:
		return "unpause the pool " + s.Subject
	case Pause:
		return "pause the pool " + s.Subject
	case Roll:
		return fmt.Sprintf("restart the nodes of pool %s into %s", s.Subject, s.To)
	case MoveOperator:
		text := fmt.Sprintf("update the operator %s to %s", s.Subject, s.To)
		if len(s.With) > 0 {
			text += " together with " + words.List(s.With, "and", 2)
		}
		return text
	case ChangeClients:
		return "move the clients of " + s.Subject + " to another API"
	case Acknowledge:
		return "acknowledge " + s.Subject
	default:
		return fmt.Sprintf("update the cluster from %s to %s", s.From, s.To)
	}
}

// short writes a duration in hours and minutes.
func short(d time.Duration) string {
	d = d.Round(time.Minute)
	if h := int(d / time.Hour); h > 0 {
		return fmt.Sprintf("%dh%02dm", h, int(d%time.Hour/time.Minute))
	}
	return fmt.Sprintf("%dm", int(d/time.Minute))
}
