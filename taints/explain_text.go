package taints

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// String returns the explanation for people: a headline; for each taint that is
// not tolerated, at most five lines on what it does, why it is there, who owns it
// and what to do; and a line for each taint that is tolerated.
func (x *Explanation) String() string {
	var s strings.Builder
	words.Fprintf(&s, "%s on %s: %s\n", x.Pod, x.Node, x.headline())
	for i := range x.Untolerated {
		u := &x.Untolerated[i]
		words.Fprintf(&s, "  not tolerated: %s%s, which %s\n    %s\n", u.Taint, source(u.Index), consequence(u.Taint.Effect), u.Advice.text(x.Now))
		switch {
		case u.Nearest != nil && u.Nearest.near():
			words.Fprintf(&s, "    %s\n", u.Nearest)
		case u.Nearest == nil && u.Fix != nil:
			s.WriteString("    the pod has no tolerations\n")
		}
	}
	for _, t := range x.Tolerated {
		words.Fprintf(&s, "  tolerated: %s%s, by tolerations[%d]: %s\n", t.Taint, source(t.Index), t.Position, t.Toleration)
	}
	return s.String()
}

func (x *Explanation) headline() string {
	var parts []string
	switch {
	case !x.Schedulable:
		parts = append(parts, "it is not scheduled there")
	case x.Avoided > 0:
		parts = append(parts, "it is scheduled there only if no node with fewer PreferNoSchedule taints fits")
	default:
		parts = append(parts, "it can be scheduled there")
	}
	switch {
	case x.Evicted:
		parts = append(parts, "if it runs there, it is evicted at once")
	case x.Leaves != nil:
		parts = append(parts, "it runs there, and is evicted at "+x.Leaves.UTC().Format(time.RFC3339))
	case x.StaysSeconds != nil:
		parts = append(parts, fmt.Sprintf("if it runs there, it stays for %d s", *x.StaysSeconds))
	case !x.Schedulable:
		parts = append(parts, "if it runs there, it stays")
	}
	return strings.Join(parts, "; ")
}

// source says where a taint that is not in the list comes from.
func source(index int) string {
	if index < 0 {
		return " (spec.unschedulable)"
	}
	return ""
}

func consequence(e fairlead.TaintEffect) string {
	switch e {
	case fairlead.NoSchedule:
		return "keeps new pods off"
	case fairlead.PreferNoSchedule:
		return "makes the node a second choice"
	case fairlead.NoExecute:
		return "keeps new pods off and evicts running ones"
	}
	return harmless
}

const harmless = "does nothing, because there is no such effect"

// near reports whether the toleration may be meant for the taint: whether it has
// its key or a similar one.
func (n *Nearest) near() bool {
	return !slices.ContainsFunc(n.Mismatches, func(m Mismatch) bool { return m.Part == "key" && !m.Alike })
}

// String says which toleration it is and why it does not match, in one line.
func (n *Nearest) String() string {
	reasons := make([]string, len(n.Mismatches))
	for i, m := range n.Mismatches {
		reasons[i] = m.String()
	}
	return fmt.Sprintf("tolerations[%d] comes closest: %s, but %s", n.Position, n.Toleration, strings.Join(reasons, ", and "))
}

// String says what is wrong, with the actual and the wanted text.
func (m Mismatch) String() string {
	var s string
	switch {
	case m.Part == "operator":
		s = fmt.Sprintf("its operator is %s: %s", shown(m.Has), m.Problem)
	case m.Part == "value" && m.operator != "" && m.operator != fairlead.TolerationEqual:
		s = fmt.Sprintf("it asks for a value %s %s, the taint has %s: %s", m.operator, shown(m.Has), shown(m.Wants), m.Problem)
	default:
		s = fmt.Sprintf("its %s is %s, not %s", m.Part, shown(m.Has), shown(m.Wants))
	}
	if m.Alike {
		s += " (a typo?)"
	}
	return s
}

func shown(s string) string {
	if s == "" {
		return "empty"
	}
	return s
}
