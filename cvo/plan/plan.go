package plan

import (
	"fmt"
	"slices"
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
	FixBudget     Kind = "FixBudget"     // a disruption budget that never allows an eviction is changed
	FreeRoom      Kind = "FreeRoom"      // a node is added, so that pods have room while others restart
	OutOfService  Kind = "OutOfService"  // a node is drained and stays cordoned
	Unpause       Kind = "Unpause"       // a pool may restart its nodes again
	Roll          Kind = "Roll"          // the nodes of a pool restart into the release
	MoveOperator  Kind = "UpdateOperator"
	ChangeClients Kind = "ChangeClients" // clients of a removed API use another one
	Acknowledge   Kind = "Acknowledge"   // the administrator acknowledges a change
	Pause         Kind = "Pause"         // a pool keeps its nodes as they are
	MoveCluster   Kind = "UpdateCluster"
)

// Plan is what to do, in order.
type Plan struct {
	From   string        `json:"from"`             // the current release
	To     string        `json:"to"`               // the target release; From if the goal names none
	Steps  []PlanStep    `json:"steps"`            // in order; empty if there is nothing to do
	Cost   Cost          `json:"cost"`             // what was minimised
	Takes  time.Duration `json:"takes"`            // until the last step is over, without waiting for windows
	Ends   time.Time     `json:"ends,omitzero"`    // when the last step ends, if the first begins at the time of the observation
	Unseen []Unseen      `json:"unseen,omitempty"` // what was not observed and steps depend on, each once
	Proof  []Bound       `json:"proof,omitempty"`  // proof that there is no better plan; see Check
	Detour *Detour       `json:"detour,omitempty"` // how the direct way compares; nil if this is it
	// Rules are those by which releases judge the first update, if the running release is not
	// in the table of [cvo.Branches]; empty otherwise.
	Rules string `json:"rules,omitempty"`
}

// Detour is what a plan pays to leave fewer risks unevaluated than the direct way.
type Detour struct {
	Unknown  int `json:"unknown"`  // unevaluated risks of the direct way
	Updates  int `json:"updates"`  // how many updates of the cluster the direct way saves
	Restarts int `json:"restarts"` // how many restarts of nodes it saves
}

// Cost is what plans are compared by; see Preference.
type Cost struct {
	Unknown  int `json:"unknown"`  // unevaluated risks
	Steps    int `json:"steps"`    // steps
	Restarts int `json:"restarts"` // restarts of nodes, and nodes that go out of service
}

// PlanStep is one step of a plan.
type PlanStep struct {
	Kind    Kind   `json:"kind"`              // what it does
	Subject string `json:"subject,omitempty"` // its subject: a pool, an operator's package, an API, a gate, namespace/name of a budget, a member, a node
	From    string `json:"from,omitempty"`    // the release, or the CSV, that it leads from
	To      string `json:"to,omitempty"`      // the one that it leads to
	// With are the other CSVs that the same install plan installs, if none of the operators can
	// be updated alone.
	With    []string `json:"with,omitempty"`
	Release string   `json:"release"` // the release that the cluster runs when it is done
	// Why says why it is needed, Before what must hold when it begins, After how to see that it
	// is done, and Back how to undo it.
	Why    string `json:"why"`
	Before string `json:"before"` // see Why
	After  string `json:"after"`  // see Why
	Back   string `json:"back"`   // see Why
	// Going says that it was begun before: it is only waited for.
	Going bool `json:"going,omitempty"`
	// Owner carries it out, with Command.
	Owner   string `json:"owner"`
	Command string `json:"command"` // see Owner
	// Takes is about how long it takes, and Basis what that estimate is based on. Offset is how
	// long after the first step it begins, without waiting for windows: steps follow each
	// other, but pools restart their nodes at the same time. Begins is when it begins if the
	// plan goes as estimated and within the windows.
	Takes  time.Duration `json:"takes"`
	Basis  string        `json:"basis"`            // see Takes
	Offset time.Duration `json:"offset,omitempty"` // see Takes
	Begins time.Time     `json:"begins,omitzero"`  // see Takes
	// Restarts are the nodes that restart, and Rounds the rounds of their drains.
	Restarts int `json:"restarts,omitempty"`
	Rounds   int `json:"rounds,omitempty"` // see Restarts
	// First are tasks before the step, and Then tasks after it.
	First []Task `json:"first,omitempty"`
	Then  []Task `json:"then,omitempty"` // see First
	// Unseen is what it depends on that was not observed.
	Unseen []Unseen `json:"unseen,omitempty"`
}

// Unseen is something that was not observed.
type Unseen struct {
	What    string `json:"what"`    // what is not known
	Command string `json:"command"` // what shows it
	// Later says that nothing shows it before earlier steps are done.
	Later bool `json:"later,omitempty"`
}

// Guesses reports whether a step depends on something that could be observed now, and was not.
func (p *Plan) Guesses() bool {
	return slices.ContainsFunc(p.Unseen, func(u Unseen) bool { return !u.Later })
}

// Bound is a proof for one independent part of the problem: that nothing that meets its
// constraints costs less.
type Bound struct {
	Part string `json:"part"` // which part
	// Certificate proves the minimum cost of the part by each criterion, in the order of the
	// preference.
	Certificate *solver.OptimumCertificate `json:"certificate"`
}

// String writes the plan as a list that can be followed.
func (p *Plan) String() string {
	var b strings.Builder
	switch {
	case len(p.Steps) == 0 && len(p.Unseen) > 0:
		b.WriteString("nothing to do, as far as is known\n")
		for _, u := range p.Unseen {
			words.Fprintf(&b, "unknown: %s; to find out: %s\n", u.What, u.Command)
		}
		return b.String()
	case len(p.Steps) == 0:
		return "nothing to do: the cluster already meets the goal\n"
	case p.From == p.To:
		fmt.Fprintf(&b, "%s at %s, %s", count(len(p.Steps), "step"), p.From, words.About(p.Takes))
	default:
		fmt.Fprintf(&b, "%s from %s to %s, %s", count(len(p.Steps), "step"), p.From, p.To, words.About(p.Takes))
	}
	if p.Cost.Restarts > 0 {
		fmt.Fprintf(&b, ", %s", count(p.Cost.Restarts, "node restart"))
	}
	b.WriteString("; no plan is better\n")
	if d := p.Detour; d != nil {
		words.Fprintf(&b, "this is a detour: it leaves %s unevaluated, and the direct way %d, with %s and %s fewer; ask for that with -direct\n", words.Count(p.Cost.Unknown, "risk", "risks"), d.Unknown, words.Count(d.Updates, "update", "updates"), words.Count(d.Restarts, "node restart", "node restarts"))
	}
	if p.Rules != "" {
		words.Fprintf(&b, "%s is not in the table of rules: those of %s are assumed\n", p.From, p.Rules)
	}
	for i, s := range p.Steps {
		takes := words.Span(s.Takes)
		if first := firstBeside(p.Steps, i); first < i {
			takes += fmt.Sprintf(", at the same time as step %d", first+1)
		}
		words.Fprintf(&b, "%3d. %s (%s)\n     why: %s\n", i+1, s, takes, s.Why)
		writeTasks(&b, "first", s.First)
		words.Fprintf(&b, "     do: %s\n     done when: %s\n     undo: %s\n", s.Command, s.After, s.Back)
		writeTasks(&b, "then", s.Then)
		for _, u := range s.Unseen {
			words.Fprintf(&b, "     unknown: %s; to find out: %s\n", u.What, u.Command)
		}
	}
	return b.String()
}

// writeTasks writes what to do before or after a step.
func writeTasks(b *strings.Builder, when string, tasks []Task) {
	for _, t := range tasks {
		words.Fprintf(b, "     %s: %s\n       %s\n", when, t.What, t.Command)
		if t.After != "" {
			words.Fprintf(b, "       done when: %s\n", t.After)
		}
	}
}

// firstBeside returns the first of the steps that begin at the same time as one, which may be
// that step itself: pools that follow one another all restart as soon as the cluster has moved.
func firstBeside(steps []PlanStep, i int) int {
	for i > 0 && steps[i].Kind == Roll && steps[i-1].Kind == Roll {
		i--
	}
	return i
}

// String says what the step does, in one line.
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
		return "migrate the clients of " + s.Subject + " to another API"
	case Acknowledge:
		return "acknowledge " + s.Subject
	default:
		return fmt.Sprintf("update the cluster from %s to %s", s.From, s.To)
	}
}
