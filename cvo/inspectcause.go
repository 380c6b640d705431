package cvo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// causes joins findings that have a common cause.
func (i *inspection) causes() {
	i.unreadyNodes()
	i.sameError()
	i.degradedPools()
	i.failing()
}

// symptom turns a finding into a symptom of another.
func (f *Finding) symptom() Symptom {
	return Symptom{Subject: f.Subject, Severity: f.Severity, Reason: f.Reason, Since: f.Since, Message: f.Message}
}

// explain moves findings below their causes, which become as severe as they are: of holds the
// cause of each finding, or nil. The causes come last, in their order.
func (i *inspection) explain(of []*Finding, causes ...*Finding) {
	rest := make([]Finding, 0, len(i.out.Findings))
	for k := range i.out.Findings {
		f := &i.out.Findings[k]
		cause := of[k]
		if cause == nil {
			rest = append(rest, *f)
			continue
		}
		cause.Explains = append(cause.Explains, append([]Symptom{f.symptom()}, f.Explains...)...)
		if f.Severity == SeverityError || f.Severity == SeverityWarning && cause.Severity == SeverityInfo {
			cause.Severity = f.Severity
		}
		if cause.Since.IsZero() || !f.Since.IsZero() && f.Since.Before(cause.Since) {
			cause.Since = f.Since
		}
	}
	for _, cause := range causes {
		rest = append(rest, *cause)
	}
	i.out.Findings = rest
}

// explainWith moves the findings that match below one cause.
func (i *inspection) explainWith(cause *Finding, match func(*Finding) bool) {
	of := make([]*Finding, len(i.out.Findings))
	for k := range i.out.Findings {
		if match(&i.out.Findings[k]) {
			of[k] = cause
		}
	}
	i.explain(of, cause)
}

// unready finds nodes that an operator reports: the part about master-1 in a message such as
// node "master-1" not ready since 2026-01-01 because X (why).
var unready = regexp.MustCompile(`node "([^"]+)" not ready since (.+?) because (\w+) \((.*)`)

// unreadyNodes joins what operators report about nodes that are not ready with the findings
// about these nodes.
func (i *inspection) unreadyNodes() {
	type report struct{ why string }
	nodes := map[string]report{}
	var names []string
	for _, o := range i.out.Operators {
		for _, line := range strings.Split(o.Message, "\n") {
			if m := unready.FindStringSubmatch(line); m != nil && o.Health != "healthy" {
				if _, known := nodes[m[1]]; !known {
					names = append(names, m[1])
					nodes[m[1]] = report{fmt.Sprintf("%s: %s", m[3], clauseOf(strings.TrimSuffix(m[4], ")"), most))}
				}
			}
		}
	}
	for _, n := range i.out.Nodes {
		if _, known := nodes[n.Name]; !known && n.Down && !n.Since.IsZero() {
			names = append(names, n.Name)
			nodes[n.Name] = report{strings.TrimPrefix(n.Message, "not ready: ")}
		}
	}
	own := map[string][]int{}   // findings by subject
	said := map[string]string{} // messages of operators by subject
	for _, o := range i.out.Operators {
		said[operatorSubject(o.Name)] = o.Message
	}
	var reports []int // findings about operators
	for k, f := range i.out.Findings {
		own[f.Subject] = append(own[f.Subject], k)
		if _, ok := said[f.Subject]; ok {
			reports = append(reports, k)
		}
	}
	of := make([]*Finding, len(i.out.Findings))
	var causes []*Finding
	for _, name := range names {
		below := slices.Clone(own["node "+name])
		for _, k := range reports {
			if of[k] == nil && strings.Contains(said[i.out.Findings[k].Subject], name) {
				below = append(below, k)
			}
		}
		if len(below) < 2 {
			continue
		}
		cause := &Finding{
			Subject: "node " + name, Severity: SeverityWarning, Reason: "NodeNotReady", Owner: "whoever runs the node",
			Message: fmt.Sprintf("node %s is not ready: %s", name, nodes[name].why),
			Next:    "check the node and its console; the operators recover when it is ready again",
		}
		for _, k := range below {
			of[k] = cause
		}
		causes = append(causes, cause)
	}
	i.explain(of, causes...)
}

// sameError joins findings about nodes, about operators and about alerts that differ only in
// names.
func (i *inspection) sameError() {
	groups := map[string][]int{} // findings by their error
	var order []string
	for k := range i.out.Findings {
		f := &i.out.Findings[k]
		kind, name, _ := strings.Cut(f.Subject, " ")
		if kind != "node" && kind != "clusteroperator" && kind != "alert" || len(f.Explains) > 0 {
			continue
		}
		key := kind + " " + f.Reason + " " + unnamed(i.essence(f), name)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], k)
	}
	of := make([]*Finding, len(i.out.Findings))
	var causes []*Finding
	for _, key := range order {
		members := groups[key]
		if len(members) < 2 {
			continue
		}
		cause := i.out.Findings[members[0]]
		kind, name, _ := strings.Cut(cause.Subject, " ")
		var names []string
		for _, k := range members {
			names = append(names, strings.TrimPrefix(i.out.Findings[k].Subject, kind+" "))
			of[k] = &cause
		}
		cause.Message = fmt.Sprintf("%d %ss have the same problem: %s (%s)", len(members), kind, strings.TrimSuffix(unnamed(i.essence(&cause), name), "."), words.Shorten(list(names), 300))
		cause.Subject = fmt.Sprintf("%d %ss", len(members), kind)
		causes = append(causes, &cause)
	}
	i.explain(of, causes...)
}

// unnamed returns a text with <name> in place of each whole occurrence of a name: node worker-1
// is not part of worker-10.
func unnamed(text, name string) string {
	part := func(c byte) bool {
		return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	var out strings.Builder
	for from := 0; ; {
		k := strings.Index(text[from:], name)
		if k < 0 || name == "" {
			return out.String() + text[from:]
		}
		at, end := from+k, from+k+len(name)
		out.WriteString(text[from:at])
		if at > 0 && part(text[at-1]) || end < len(text) && part(text[end]) {
			out.WriteString(name)
		} else {
			out.WriteString("<name>")
		}
		from = end
	}
}

// degradedPools puts what machine-config reports about a pool below the pool's nodes that are
// stuck.
func (i *inspection) degradedPools() {
	at := slices.IndexFunc(i.out.Findings, func(f Finding) bool { return f.Reason == "NodeDegraded" })
	k := slices.IndexFunc(i.out.Operators, func(o OperatorReport) bool { return o.Name == "machine-config" })
	if at < 0 || k < 0 || !strings.Contains(i.out.Operators[k].Message, "MachineConfigPool") {
		return
	}
	cause := i.out.Findings[at]
	if len(cause.Explains) == 0 {
		cause.Explains = []Symptom{cause.symptom()}
	}
	i.out.Findings = slices.Delete(slices.Clone(i.out.Findings), at, at+1)
	i.explainWith(&cause, func(f *Finding) bool { return f.Subject == operatorSubject("machine-config") })
}

// essence is the message of a finding without its source.
func (i *inspection) essence(f *Finding) string {
	_, said, ok := strings.Cut(f.Message, ": ")
	if !ok {
		return f.Message
	}
	return said
}

// failing puts the failure of the ClusterVersion below its causes, if all operators that it
// names are reported.
func (i *inspection) failing() {
	if i.d.Version == nil {
		return
	}
	is := func(f *Finding) bool {
		return f.Subject == "clusterversion version" && strings.HasPrefix(f.Message, "the cluster version fails: ")
	}
	k := slices.IndexFunc(i.out.Findings, func(f Finding) bool { return is(&f) })
	if k < 0 {
		return
	}
	var told []string // operators in findings, with the index of the finding
	at := -1
	for n, f := range i.out.Findings {
		subjects := []string{f.Subject}
		for _, s := range f.Explains {
			subjects = append(subjects, s.Subject)
		}
		for _, s := range subjects {
			if name, ok := strings.CutPrefix(s, "clusteroperator "); ok && names(i.d.Version, name) {
				if told = append(told, name); at < 0 || len(f.Explains) > len(i.out.Findings[at].Explains) {
					at = n
				}
			}
		}
	}
	if at < 0 || !allTold(i.d.Version, i.out.Operators, told) {
		return
	}
	cause := i.out.Findings[at]
	subject, message := cause.Subject, cause.Message
	i.out.Findings = slices.Delete(slices.Clone(i.out.Findings), at, at+1)
	i.explainWith(&cause, func(f *Finding) bool { return is(f) && (f.Subject != subject || f.Message != message) })
}

// failingMessage returns the message of the condition Failing.
func failingMessage(cv *ClusterVersion) string {
	for _, c := range cv.Status.Conditions {
		if c.Type == "Failing" {
			return c.Message
		}
	}
	return ""
}

// names reports whether Failing names an operator.
func names(cv *ClusterVersion, operator string) bool {
	for _, word := range strings.FieldsFunc(failingMessage(cv), func(r rune) bool { return strings.ContainsRune(" ,:;\n\"()*", r) }) {
		if strings.TrimSuffix(word, ".") == operator {
			return true
		}
	}
	return false
}

// allTold reports whether every operator that Failing names is reported.
func allTold(cv *ClusterVersion, operators []OperatorReport, told []string) bool {
	for _, o := range operators {
		if names(cv, o.Name) && !slices.Contains(told, o.Name) {
			return false
		}
	}
	return true
}
