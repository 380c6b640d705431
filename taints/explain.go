package taints

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/decimal"
	"github.com/fairlead/fairlead/internal/object"
)

// ExplainOptions say how [Explain] works. The zero value, and a nil pointer, mean
// the defaults.
type ExplainOptions struct {
	Options
	// Redact hides keys and values of taints and tolerations: they are replaced by
	// key-1, value-1 and so on, equal ones by the same name. Keys that the control
	// plane uses and names of objects are shown. Messages of conditions are left
	// out.
	Redact bool
	// Now is the current time, from which texts compute how long something has
	// lasted. Zero leaves that out.
	Now time.Time
}

// Explanation says what the taints of a node mean for a pod, and why.
type Explanation struct {
	Pod  string `json:"pod"`  // such as pod/shop/web-0
	Node string `json:"node"` // such as node/n1
	// Schedulable is whether the taints let the pod be placed on the node.
	Schedulable bool `json:"schedulable"`
	// Evicted is whether the pod would be evicted at once if it ran there.
	Evicted bool `json:"evicted"`
	// StaysSeconds is how long the pod stays, counted from when each taint was
	// added, if it is not evicted at once; nil means forever. If several
	// tolerations match one taint, the first counts.
	StaysSeconds *int64 `json:"staysSeconds,omitempty"`
	// Leaves is when the pod, which runs there, is evicted for a taint that it tolerates for
	// a time; nil if never, or if that is not known.
	Leaves *time.Time `json:"leaves,omitempty"`
	// Avoided is how many untolerated taints make the node a second choice.
	Avoided int `json:"avoided"`
	// Untolerated are the taints that no toleration matches, in the node's order.
	Untolerated []UntoleratedTaint `json:"untolerated,omitempty"`
	// Tolerated are the others, in the node's order.
	Tolerated []ToleratedTaint `json:"tolerated,omitempty"`
	// Now is that of the options.
	Now time.Time `json:"now,omitzero"`
}

// UntoleratedTaint is a taint that no toleration of a pod matches.
type UntoleratedTaint struct {
	Taint fairlead.Taint `json:"taint"`
	// Index is the taint's index in spec.taints; -1 if it stands for
	// spec.unschedulable.
	Index int `json:"index"`
	// Nearest is the toleration that comes closest; nil if the pod has none.
	Nearest *Nearest `json:"nearest,omitempty"`
	// Fix is the toleration that would match this taint and no other. If added to
	// the pod, it lasts forever. It is nil if a toleration is not the right fix;
	// see Advice.
	Fix *fairlead.Toleration `json:"fix,omitempty"`
	// Advice is why the taint is there and what to do.
	Advice Advice `json:"advice"`
}

// ToleratedTaint is a taint that a toleration of a pod matches.
type ToleratedTaint struct {
	Taint      fairlead.Taint      `json:"taint"`
	Index      int                 `json:"index"`           // as in UntoleratedTaint
	Toleration fairlead.Toleration `json:"toleration"`      // the first that matches
	Position   int                 `json:"tolerationIndex"` // its index in spec.tolerations
}

// Nearest is the toleration that comes closest to a taint: one of its key, if
// there is any, otherwise of a similar key; then the one that fails in the fewest
// parts.
type Nearest struct {
	Position   int                 `json:"tolerationIndex"` // its index in spec.tolerations
	Toleration fairlead.Toleration `json:"toleration"`
	Mismatches []Mismatch          `json:"mismatches"` // why it does not match: at least one
}

// Mismatch is one part of a toleration that keeps it from matching a taint.
type Mismatch struct {
	Part     string `json:"part"`            // effect, key, operator or value
	Has      string `json:"has,omitempty"`   // what the toleration has
	Wants    string `json:"wants,omitempty"` // what the taint has
	Alike    bool   `json:"alike,omitempty"` // the two differ in a few letters: it may be a typo
	Problem  string `json:"problem"`         // what is wrong, without keys and values
	operator fairlead.TolerationOperator
	// unreadable is set if a value is not a number and should be one.
	unreadable bool
}

// Explain says what the taints of a node mean for a pod, taint by taint, and what
// would change it. It reads nothing else of the two except the node's conditions,
// which show why some taints are there.
func Explain(p *fairlead.Pod, n *fairlead.Node, o *ExplainOptions) *Explanation {
	if o == nil {
		o = &ExplainOptions{}
	}
	x := explainer{
		Explanation: Explanation{Pod: podTitle(p), Node: nodeTitle(n), Now: o.Now},
		tolerations: p.Spec.Tolerations, numbers: o.ComparisonOperators,
	}
	for i := range n.Spec.Taints {
		x.taint(i, &n.Spec.Taints[i])
	}
	if cordon := unschedulableTaint(); n.Spec.Unschedulable && Find(n.Spec.Taints, cordon.Key, cordon.Effect) == nil {
		x.taint(-1, &cordon)
	}
	v := Evaluate(p, n, &o.Options)
	x.Schedulable, x.Evicted, x.Avoided = v.Schedulable(), !v.Stays(), v.Avoided()
	if x.Evicted {
		x.StaysSeconds, x.Leaves = nil, nil
	}
	if p.Spec.NodeName != n.Name {
		x.Leaves = nil
	}
	if o.Redact {
		x.redact()
	}
	for i := range x.Untolerated {
		u := &x.Untolerated[i]
		u.Advice = adviceOn(&u.Taint, u.Fix, n, o.Redact)
		if old := (fairlead.Taint{Key: KeyMaster, Effect: u.Taint.Effect}); u.Taint.Key == KeyControlPlane && object.FirstMatch(p.Spec.Tolerations, &old, x.numbers) >= 0 {
			u.Advice.WayOut = "the pod tolerates " + KeyMaster + ", as the taint was called before Kubernetes 1.24; if it belongs there, add " + Fix(u.Taint).String() + " to it"
		}
	}
	return &x.Explanation
}

type explainer struct {
	Explanation
	tolerations []fairlead.Toleration
	numbers     bool
}

func (x *explainer) taint(index int, t *fairlead.Taint) {
	i := object.FirstMatch(x.tolerations, t, x.numbers)
	if i < 0 {
		u := UntoleratedTaint{Taint: *t, Index: index, Nearest: x.nearest(t)}
		if fixable(t) {
			fix := Fix(*t)
			u.Fix = &fix
		}
		x.Untolerated = append(x.Untolerated, u)
		return
	}
	matched := x.tolerations[i]
	x.Tolerated = append(x.Tolerated, ToleratedTaint{Taint: *t, Index: index, Toleration: matched, Position: i})
	if s := matched.TolerationSeconds; t.Effect == fairlead.NoExecute && s != nil && (x.StaysSeconds == nil || *s < *x.StaysSeconds) {
		seconds := max(*s, 0)
		x.StaysSeconds = &seconds
	}
	if s := matched.TolerationSeconds; t.Effect == fairlead.NoExecute && s != nil && t.TimeAdded != nil {
		if at := t.TimeAdded.Add(time.Duration(max(*s, 0)) * time.Second); x.Leaves == nil || at.Before(*x.Leaves) {
			x.Leaves = &at
		}
	}
}

// nearest returns the toleration that comes closest to a taint that it does not
// match. Of equally close ones it returns the first.
func (x *explainer) nearest(taint *fairlead.Taint) *Nearest {
	var best *Nearest
	least := 0
	for i := range x.tolerations {
		found := mismatches(&x.tolerations[i], taint, x.numbers)
		cost := len(found)
		for _, m := range found {
			switch {
			case m.Part == "key" && m.Alike:
				cost += 4
			case m.Part == "key":
				cost += 8
			}
		}
		if best == nil || cost < least {
			best, least = &Nearest{Position: i, Toleration: x.tolerations[i], Mismatches: found}, cost
		}
	}
	return best
}

// mismatches returns every reason why a toleration does not match a taint.
func mismatches(t *fairlead.Toleration, taint *fairlead.Taint, numbers bool) []Mismatch {
	var found []Mismatch
	if t.Key != "" && t.Key != taint.Key {
		found = append(found, Mismatch{Part: "key", Has: t.Key, Wants: taint.Key, Alike: alike(t.Key, taint.Key), Problem: "the keys differ"})
	}
	if t.Effect != "" && t.Effect != taint.Effect {
		found = append(found, Mismatch{
			Part: "effect", Has: string(t.Effect), Wants: string(taint.Effect), Alike: alike(string(t.Effect), string(taint.Effect)),
			Problem: "the effects differ",
		})
	}
	if m := operatorMismatch(t, taint, numbers); m.Part != "" {
		found = append(found, m)
	}
	return found
}

func operatorMismatch(t *fairlead.Toleration, taint *fairlead.Taint, numbers bool) Mismatch {
	value := Mismatch{Part: "value", Has: t.Value, Wants: taint.Value, operator: t.Operator}
	operator := Mismatch{Part: "operator", Has: string(t.Operator), operator: t.Operator}
	switch t.Operator {
	case fairlead.TolerationExists:
		return Mismatch{}
	case fairlead.TolerationEqual, "":
		if t.Value == taint.Value {
			return Mismatch{}
		}
		value.Alike = alike(t.Value, taint.Value)
		value.Problem = "the values differ"
		return value
	case fairlead.TolerationLt, fairlead.TolerationGt:
		if !numbers {
			operator.Problem = "comparing numbers is turned off"
			return operator
		}
	default:
		operator.Problem = "there is no such operator"
		operator.Alike = meant(string(t.Operator), []string{string(fairlead.TolerationEqual), string(fairlead.TolerationExists)}) != ""
		return operator
	}
	if _, err := decimal.Parse(t.Value); err != nil {
		value.unreadable = true
		value.Problem = "the toleration's value is not a number to compare with: " + err.Error()
		return value
	}
	if _, err := decimal.Parse(taint.Value); err != nil {
		value.unreadable = true
		value.Problem = "the taint's value is not a number to compare: " + err.Error()
		return value
	}
	if !(&fairlead.Toleration{Operator: t.Operator, Value: t.Value}).Matches(taint, true) {
		value.Problem = "the taint's value is not greater"
		if t.Operator == fairlead.TolerationLt {
			value.Problem = "the taint's value is not less"
		}
		return value
	}
	return Mismatch{}
}

// alike reports whether one text may be a typo of the other. Texts that differ
// only in their digits are not: they are numbered.
func alike(a, b string) bool {
	return a != "" && b != "" && a != b && meant(a, []string{b}) != "" && strings.Map(noDigit, a) != strings.Map(noDigit, b)
}

func noDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// Fix returns a toleration that matches this taint, and no other taint that a node
// may have. The API accepts it if it accepts the taint.
func Fix(t fairlead.Taint) fairlead.Toleration {
	switch {
	case t.Key == "":
		return fairlead.Toleration{Operator: fairlead.TolerationExists, Effect: t.Effect}
	case valueFlaw(t.Value).problem != "":
		return fairlead.Toleration{Key: t.Key, Operator: fairlead.TolerationExists, Effect: t.Effect}
	}
	return fairlead.Toleration{Key: t.Key, Operator: fairlead.TolerationEqual, Value: t.Value, Effect: t.Effect}
}
