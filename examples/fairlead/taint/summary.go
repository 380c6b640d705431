package taint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
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

// explainFunc explains a pod on nodes with the same taints.
type explainFunc func(p *fairlead.Pod, like []*fairlead.Node) answer

// summary writes answers about pods with a node: those with the same tolerations, on nodes
// with the same taints, are reported once, and those that fit are counted. Pods without a
// node, grouped by what they require, come before that number. It returns whether each of them fits
// on a node.
func summary(w io.Writer, answers []answer, pending [][]*fairlead.Pod, nodes *suits, explained explainFunc) bool {
	quiet, fits := 0, true
	var all groups
	for i := range answers {
		a := &answers[i]
		if a.quiet() {
			quiet++
			continue
		}
		// The texts contain commands with the node's name.
		all.add(fmt.Sprint(a.pod.Spec.Tolerations)+strings.ReplaceAll(a.String()[len(a.Pod):], strings.TrimPrefix(a.Node, "node/"), ""), a)
	}
	for _, like := range all.list {
		more := ""
		if len(like) > 1 {
			more = words.Count(len(like)-1, "more pod", "more pods") + " on such nodes"
		}
		like[0].text(w, more)
	}
	for _, like := range pending {
		found := pendingText(w, like, nodes, explained)
		fits = fits && found
	}
	if quiet > 0 {
		words.Fprintf(w, "%s can be scheduled where %s; -v lists them\n", words.Count(quiet, "pod", "pods"), words.Plural(quiet, "it runs", "they run"))
	}
	return fits
}

// mostTexts is how many kinds of nodes are explained to pods without a node.
const mostTexts = 10

// pendingText reports where pods without a node that require the same can be scheduled,
// and whether there is such a node. Taints are listed if they allow no node, or if a toleration
// nearly matches one.
func pendingText(w io.Writer, pods []*fairlead.Pod, nodes *suits, explained explainFunc) (known bool) {
	if gated(w, pods) {
		return false
	}
	allowed, total := 0, 0
	var all, near []answer // the first of them
	count := 0             // of near
	suited, rejected := nodes.split(pods[0])
	odd := unsuited{Pod: "pod/" + pods[0].ObjectMeta.String(), Suited: sum(suited), Rejected: rejected}
	if odd.Suited == 0 && len(rejected) > 0 {
		if n := len(pods) - 1; n > 0 {
			odd.Pod += " and " + words.Count(n, "more pod", "more pods") + " like it"
		}
		odd.text(w)
		return false
	}
	for _, like := range suited {
		total += len(like)
		a := explained(pods[0], like)
		if a.Schedulable {
			allowed += len(like)
		}
		if len(all) < mostTexts {
			all = append(all, a)
		}
		if slices.ContainsFunc(a.Untolerated, missed) {
			if count++; len(near) < mostTexts {
				near = append(near, a)
			}
		}
	}
	more := ""
	if n := len(pods) - 1; n > 0 {
		more = " and " + words.Count(n, "more pod", "more pods") + " like it"
	}
	first, of := "pod/"+pods[0].ObjectMeta.String(), words.Count(total, "node", "nodes")
	if len(rejected) > 0 {
		of = words.Count(total, "node that suits", "nodes that suit") + " it otherwise"
	}
	told, kinds := near, count
	if allowed > 0 {
		unknown := nodes.cluster.Unknown(pods[0])
		if len(unknown) > 0 {
			words.Fprintf(w, "%s%s, without a node: it may be schedulable on %d of %s, but %s\n", first, more, allowed, of, unknown[0])
			defer func() { known = false }()
		} else {
			words.Fprintf(w, "%s%s, without a node: it can be scheduled on %d of %s\n", first, more, allowed, of)
		}
		schedulerSays(w, pods[0])
	} else {
		words.Fprintf(w, "%s%s, without a node: taints allow none of %s\n", first, more, of)
		told, kinds = all, len(suited)
	}
	for i := range told {
		told[i].text(w, "")
	}
	if len(rejected) > 0 {
		odd.text(w)
	}
	if n := kinds - len(told); n > 0 {
		words.Fprintf(w, "  %s; -pod %s explains each\n", words.Count(n, "more kind of node", "more kinds of nodes"), pods[0].ObjectMeta)
	}
	return allowed > 0 || len(nodes.classes) == 0
}

// gated reports that pods wait for their gates, if they do.
func gated(w io.Writer, pods []*fairlead.Pod) bool {
	p := pods[0]
	if len(p.Spec.SchedulingGates) == 0 {
		return false
	}
	var names []string
	for _, g := range p.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	more := ""
	if n := len(pods) - 1; n > 0 {
		more = " and " + words.Count(n, "more pod", "more pods") + " like it"
	}
	words.Fprintf(w, "pod/%s%s, without a node: the scheduler does not look for one until its scheduling %s removed: %s; whoever owns the name removes it\n",
		p.ObjectMeta, more, words.Plural(len(names), "gate is", "gates are"), strings.Join(names, ", "))
	return true
}

// schedulerSays writes what the scheduler reported last about a pod without a node.
func schedulerSays(w io.Writer, p *fairlead.Pod) {
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" && c.Message != "" {
			words.Fprintf(w, "  the scheduler said: %s\n", words.Shorten(words.Flow(c.Message), 400))
			return
		}
	}
	if name := p.Spec.SchedulerName; name != "" && name != "default-scheduler" {
		words.Fprintf(w, "  its scheduler is %s, which has said nothing about it\n", name)
	}
	command := shell.Command("kubectl describe pod %s", p.Name)
	if p.Namespace != "" {
		command = shell.Command("kubectl -n %s describe pod %s", p.Namespace, p.Name)
	}
	words.Fprintf(w, "  if it stays pending, the scheduler's message says why: %s\n", command)
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
