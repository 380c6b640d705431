package taint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
)

// text writes an answer as text; more is inserted after the names in its headline.
func (a *answer) text(w io.Writer, more string) {
	if len(a.Also) > 0 {
		more = words.Count(len(a.Also), "more node", "more nodes") + more
	}
	text := a.String()
	if more != "" {
		headline := a.Pod + " on " + a.Node
		text = headline + " and " + more + strings.TrimPrefix(text, headline)
	}
	io.WriteString(w, text)
}

// quiet reports whether there is nothing to report about a pod on its node.
func (a *answer) quiet() bool {
	return a.Schedulable && !a.Evicted && a.StaysSeconds == nil && a.Avoided == 0
}

// summary writes answers about all pods: those with the same tolerations, on nodes with
// the same taints, are reported once, and those that fit are counted. Pods without a
// node are last.
func summary(w io.Writer, answers []answer, nodes int) {
	var fit int
	var running, pending groups
	for i := range answers {
		a := &answers[i]
		switch {
		case a.pod.Spec.NodeName == "":
			pending.add(fmt.Sprint(a.pod.Spec.Tolerations), a)
		case a.quiet():
			fit++
		default:
			// The texts contain commands with the node's name.
			running.add(fmt.Sprint(a.pod.Spec.Tolerations)+strings.ReplaceAll(a.String()[len(a.Pod):], strings.TrimPrefix(a.Node, "node/"), ""), a)
		}
	}
	for _, like := range running.list {
		more := ""
		if len(like) > 1 {
			more = words.Count(len(like)-1, "more pod", "more pods") + " on such nodes"
		}
		like[0].text(w, more)
	}
	for _, like := range pending.list {
		pendingText(w, like, nodes)
	}
	if fit > 0 {
		fmt.Fprintf(w, "%s can be scheduled where %s; -v lists them\n", words.Count(fit, "pod", "pods"), words.Plural(fit, "it runs", "they run"))
	}
}

// pendingText reports where pods without a node can be scheduled. Taints are listed if they
// allow no node, or if a toleration nearly matches one.
func pendingText(w io.Writer, like []*answer, nodes int) {
	first := like[0].Pod
	pods := slices.IndexFunc(like, func(a *answer) bool { return a.Pod != first })
	if pods < 0 {
		pods = len(like)
	}
	of := like[:pods] // the answers about the first pod
	allowed := 0
	for _, a := range of {
		if a.Schedulable {
			allowed += 1 + len(a.Also)
		}
	}
	more := ""
	if n := len(like)/pods - 1; n > 0 {
		more = " and " + words.Count(n, "more pod", "more pods") + " with the same tolerations"
	}
	if allowed > 0 {
		fmt.Fprintf(w, "%s%s, without a node: taints allow %d of %s; if it stays pending, look for another reason with kubectl describe\n",
			first, more, allowed, words.Count(nodes, "node", "nodes"))
	} else {
		fmt.Fprintf(w, "%s%s, without a node: taints allow none of %s\n", first, more, words.Count(nodes, "node", "nodes"))
	}
	for _, a := range of {
		if allowed == 0 || slices.ContainsFunc(a.Untolerated, missed) {
			a.text(w, "")
		}
	}
}

// missed reports whether a toleration was intended for the taint but does not match it.
func missed(u taints.UntoleratedTaint) bool {
	return u.Nearest != nil && !slices.ContainsFunc(u.Nearest.Mismatches, func(m taints.Mismatch) bool {
		return m.Part == "key" && !m.Alike || m.Part == "effect"
	})
}

// groups are answers with the same text, ordered by the first of each group.
type groups struct {
	at   map[string]int
	list [][]*answer
}

func (g *groups) add(key string, a *answer) {
	k, known := g.at[key]
	if !known {
		if g.at == nil {
			g.at = map[string]int{}
		}
		k = len(g.list)
		g.at[key], g.list = k, append(g.list, nil)
	}
	g.list[k] = append(g.list[k], a)
}
