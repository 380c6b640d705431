package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver"
)

// explainer turns the constraints of a core into findings.
type explainer struct {
	ctx        context.Context
	q          *query
	needs      map[*entry][]*bundleNeeds
	exclusions map[*entry]string   // why an operator is refused by itself
	unique     []solver.Constraint // that operators exclude each other
	askers     map[*entry][]any    // the constraints of the core that an operator would serve
	told       map[*entry]bool
	brief      bool // leave out which operators exclude each other: they are reported separately
}

// inQuestion requests the operator that an explanation is about, chosenBefore
// the operators of earlier choices.
type (
	inQuestion   struct{}
	chosenBefore struct{}
)

func newExplainer(ctx context.Context, q *query, core []solver.Constraint) *explainer {
	x := &explainer{ctx: ctx, q: q, needs: make(map[*entry][]*bundleNeeds), exclusions: make(map[*entry]string),
		askers: make(map[*entry][]any), told: make(map[*entry]bool)}
	ask := func(why any, entries ...*entry) {
		for _, e := range entries {
			x.askers[e] = append(x.askers[e], why)
		}
	}
	for _, c := range core {
		switch why := c.Why.(type) {
		case *csvExists:
			ask(why, why.csv)
		case *subNeeds:
			ask(why, why.sub.options()...)
		case *bundleNeeds:
			x.needs[why.by] = append(x.needs[why.by], why)
			ask(why, why.candidates...)
		case *refused:
			x.exclusions[why.entry] = why.text
		case *onePackage, *oneProvider, *replacement, *exclusion:
			x.unique = append(x.unique, c)
		}
	}
	return x
}

func (x *explainer) invalid(s *subscription) Finding {
	return Finding{Text: fmt.Sprintf("subscription %s cannot be served: %s", s.Name, s.invalid), Because: x.q.nearestSubscription(s)}
}

func (x *explainer) subscription(why *subNeeds) Finding {
	s := why.sub
	what := "package " + s.Spec.Package
	if s.Spec.Channel != "" {
		what += ", channel " + s.Spec.Channel
	}
	switch {
	case s.current != nil:
		what += ", " + s.current.name + " installed"
	case s.Spec.StartingCSV != "":
		what += ", pinned to startingCSV " + s.Spec.StartingCSV
	}
	f := Finding{Text: fmt.Sprintf("subscription %s (%s) cannot be served", s.Name, what)}
	options := s.options()
	if len(options) == 0 {
		f.Text += ": its channels offer nothing"
	}
	f.Because = x.describeAll(options, why)
	return f
}

// describeAll returns the obstacles for each of several operators that asker
// requests, and groups operators with the same obstacle.
func (x *explainer) describeAll(entries []*entry, asker any) []Finding {
	type group struct {
		names   []string
		finding Finding
	}
	var groups []group
	for _, e := range entries {
		for _, f := range x.describe(e, asker) {
			at := slices.IndexFunc(groups, func(g group) bool { return equalFindings(g.finding, f) })
			if at < 0 {
				groups = append(groups, group{finding: f})
				at = len(groups) - 1
			}
			if !slices.Contains(groups[at].names, e.name) {
				groups[at].names = append(groups[at].names, e.name)
			}
		}
	}
	var out []Finding
	for _, g := range groups {
		g.finding.Text = sentence(g.names, g.finding.Text)
		out = append(out, g.finding)
	}
	return out
}

// sentence puts names before a text about one of them, and adapts the verb.
func sentence(names []string, text string) string {
	if len(names) > 1 {
		verb, rest, _ := strings.Cut(text, " ")
		switch verb {
		case "is":
			text = "are " + rest
		case "requires", "takes", "gives":
			text = strings.TrimSuffix(verb, "s") + " " + rest
		}
	}
	return listNames(names) + " " + text
}

func equalFindings(a, b Finding) bool {
	return a.Text == b.Text && slices.EqualFunc(a.Because, b.Because, equalFindings)
}

// describe returns the obstacles for an operator that asker requests; the texts
// lack its name, and begin with a verb.
func (x *explainer) describe(e *entry, asker any) []Finding {
	if x.told[e] && len(x.needs[e]) > 0 {
		return []Finding{{Text: "is not available, see above"}}
	}
	x.told[e] = true
	var out []Finding
	if text, ok := x.exclusions[e]; ok {
		out = append(out, Finding{Text: text})
	}
	for _, n := range x.needs[e] {
		f := Finding{Text: "requires " + n.need.String()}
		if len(n.candidates) == 0 {
			f.Text += ", which nothing offers"
			f.Because = x.q.nearest(x.ctx, n.need)
		} else {
			f.Because = x.describeAll(n.candidates, n)
		}
		if len(f.Because) > 0 || !x.brief {
			out = append(out, f)
		}
	}
	for _, c := range x.unique {
		if x.brief {
			break
		}
		if text := x.rivalry(c, e, asker); text != "" {
			out = append(out, Finding{Text: text})
		}
	}
	return out
}

// rivalry describes how a constraint on operators that exclude each other rules
// out one of them: by the others that something else requests.
func (x *explainer) rivalry(c solver.Constraint, e *entry, asker any) string {
	if why, ok := c.Why.(*replacement); ok {
		switch {
		case why.update == e:
			return "takes the place of " + why.current.name
		case why.current == e && x.asks(why.update, asker) != nil:
			if x.asks(why.update, asker) == (inQuestion{}) {
				return "gives way to " + why.update.name
			}
			return "gives way: " + strings.Join(x.demands([]*entry{why.update}, asker), ", ")
		}
		return ""
	}
	members, what := exclusive(c)
	if !slices.Contains(members, e) {
		return ""
	}
	others := slices.DeleteFunc(slices.Clone(members), func(o *entry) bool { return o.name == e.name })
	demands := x.demands(others, asker)
	if len(demands) == 0 {
		return ""
	}
	return "is not available: " + strings.Join(demands, ", ") + ", and there can be only one " + what
}

// exclusive returns the operators of which there can be only one, and a
// description of that one.
func exclusive(c solver.Constraint) (members []*entry, what string) {
	switch why := c.Why.(type) {
	case *onePackage:
		return why.entries, "operator of package " + why.pkg
	case *oneProvider:
		return why.entries, "provider of " + gvkText(why.gvk)
	case *exclusion:
		return []*entry{why.by, why.other}, fmt.Sprintf("of %s and %s, as the former excludes the latter (%s)", why.by.name, why.other.name, why.need)
	}
	return nil, ""
}

// demands describes what requests which of some operators, without the requests
// of asker.
func (x *explainer) demands(entries []*entry, asker any) []string {
	names := make(map[any][]string)
	var order []any
	for _, e := range entries {
		by := x.asks(e, asker)
		if by == nil {
			continue
		}
		if names[by] == nil {
			order = append(order, by)
		}
		if !slices.Contains(names[by], e.name) {
			names[by] = append(names[by], e.name)
		}
	}
	var out []string
	for _, by := range order {
		out = append(out, x.demand(by, names[by]))
	}
	return out
}

func (x *explainer) demand(by any, names []string) string {
	switch by := by.(type) {
	case *subNeeds:
		return "subscription " + by.sub.Name + " needs " + orNames(names)
	case *bundleNeeds:
		return by.by.name + x.askedBy(by.by) + " needs " + orNames(names)
	case chosenBefore:
		return listNames(names) + " was chosen before it"
	case inQuestion:
		return "that is the place of " + listNames(names)
	}
	return listNames(names) + " is installed and no subscription refers to it"
}

// askedBy names the subscription that requests an operator, directly or
// indirectly, if one does.
func (x *explainer) askedBy(e *entry) string {
	queue := []*entry{e}
	seen := make(map[*entry]bool)
	for len(queue) > 0 {
		for _, by := range x.askers[queue[0]] {
			switch by := by.(type) {
			case *subNeeds:
				return " (subscription " + by.sub.Name + ")"
			case *bundleNeeds:
				if !seen[by.by] {
					seen[by.by] = true
					queue = append(queue, by.by)
				}
			}
		}
		queue = queue[1:]
	}
	return ""
}

// asks returns something other than asker that requests an operator, or nil.
func (x *explainer) asks(e *entry, asker any) any {
	for _, by := range x.askers[e] {
		if by != asker {
			return by
		}
	}
	return nil
}

// conflicts reports the constraints on operators that exclude each other, each
// with everything that requests one of them.
func (x *explainer) conflicts() []Finding {
	var out []Finding
	for _, c := range x.unique {
		members, what := exclusive(c)
		f := Finding{Text: "there can be only one " + what + ", but"}
		for _, text := range x.demands(members, nil) {
			f.Because = append(f.Because, Finding{Text: text})
		}
		if len(f.Because) > 1 {
			out = append(out, f)
		}
	}
	return out
}

// listNames joins names with "and", the first three if there are many.
func listNames(names []string) string { return joinNames(names, "and") }

func orNames(names []string) string { return joinNames(names, "or") }

func joinNames(names []string, last string) string {
	return words.List(slices.Compact(slices.Clone(names)), last, 3)
}
