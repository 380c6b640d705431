package taints

import (
	"fmt"
	"strings"
)

// String returns the explanation for people: a headline, and for each taint what
// it does and what to do about it.
func (x *Explanation) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s on %s: %s\n", x.Pod, x.Node, x.headline())
	for _, u := range x.Untolerated {
		fmt.Fprintf(&s, "  not tolerated: %s%s, which %s\n", u.Taint, source(u.Index), consequence(u.Taint.Effect))
		if u.Nearest != nil {
			s.WriteString("    " + u.Nearest.String() + "\n")
		} else {
			s.WriteString("    the pod has no tolerations\n")
		}
		if consequence(u.Taint.Effect) != harmless {
			fmt.Fprintf(&s, "    to tolerate it, add %s\n", u.Fix)
		}
	}
	for _, t := range x.Tolerated {
		fmt.Fprintf(&s, "  tolerated: %s%s\n    by tolerations[%d]: %s\n", t.Taint, source(t.Index), t.Position, t.Toleration)
	}
	return s.String()
}

func (x *Explanation) headline() string {
	var parts []string
	switch {
	case !x.Schedulable:
		parts = append(parts, "it is not placed there")
	case x.Avoided > 0:
		parts = append(parts, "it is placed there only if no node with fewer taints of PreferNoSchedule will do")
	default:
		parts = append(parts, "it can be placed there")
	}
	switch {
	case x.Evicted:
		parts = append(parts, "if it runs there, it is evicted at once")
	case x.StaysSeconds != nil:
		parts = append(parts, fmt.Sprintf("if it runs there, it stays for %d s", *x.StaysSeconds))
	case !x.Schedulable:
		parts = append(parts, "if it runs there, it stays")
	}
	return strings.Join(parts, "; ")
}

// source tells where a taint comes from that is not in the list.
func source(index int) string {
	if index < 0 {
		return " (spec.unschedulable)"
	}
	return ""
}

func consequence(e TaintEffect) string {
	switch e {
	case NoSchedule:
		return "keeps new pods off"
	case PreferNoSchedule:
		return "makes the node a second choice"
	case NoExecute:
		return "keeps new pods off and evicts running ones"
	}
	return harmless
}

const harmless = "does nothing, because there is no such effect"

// String tells which toleration it is and why it does not match, in a line for
// each reason.
func (n *Nearest) String() string {
	s := fmt.Sprintf("tolerations[%d] comes closest: %s", n.Position, n.Toleration)
	for _, m := range n.Mismatches {
		s += "\n      but " + m.String()
	}
	return s
}

// String tells what is wrong, with what is there and what is wanted.
func (m Mismatch) String() string {
	var s string
	switch {
	case m.Part == "operator":
		s = fmt.Sprintf("its operator is %s: %s", shown(m.Has), m.Problem)
	case m.Part == "value" && m.operator != "" && m.operator != Equal:
		s = fmt.Sprintf("it asks for a value %s %s, the taint has %s: %s", m.operator, shown(m.Has), shown(m.Wants), m.Problem)
	default:
		s = fmt.Sprintf("its %s is %s, not %s", m.Part, shown(m.Has), shown(m.Wants))
	}
	if m.Alike {
		s += " (a slip?)"
	}
	return s
}

func shown(s string) string {
	if s == "" {
		return "empty"
	}
	return s
}
