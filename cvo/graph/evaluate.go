package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Result is the result of evaluating a rule.
type Result string

// The results.
const (
	Match    Result = "Match"    // the rule matches the cluster
	NotMatch Result = "NotMatch" // it does not match
	Failed   Result = "Failed"   // it is unknown; Message says why
)

// Evaluation is what is remembered about one rule.
type Evaluation struct {
	Rule    Rule      `json:"rule"`              // what was evaluated
	Result  Result    `json:"result,omitempty"`  // of the last evaluation; empty before the first
	Message string    `json:"message,omitempty"` // why it failed
	At      time.Time `json:"at,omitzero"`       // when it was last evaluated
	Asked   time.Time `json:"asked,omitzero"`    // when it was last needed
}

// EvaluationPolicy says how often rules are evaluated. Nil means the defaults.
type EvaluationPolicy struct {
	// Every is how old a result may become; default 1 hour, as in the
	// cluster-version operator.
	Every time.Duration
	// RetryFailed is how soon a failed evaluation is repeated; default 1 minute.
	// The operator waits as long as for any other evaluation.
	RetryFailed time.Duration
	// Burst is how many rules may be evaluated at once; default 16. The operator
	// evaluates one.
	Burst int
	// Pause is the minimum time between two bursts; default 1 second.
	Pause time.Duration
	// Forget is how long an unused rule is remembered; default 24 hours.
	Forget time.Duration
}

func (p *EvaluationPolicy) withDefaults() EvaluationPolicy {
	var out EvaluationPolicy
	if p != nil {
		out = *p
	}
	out.Every = cmp.Or(max(out.Every, 0), time.Hour)
	out.RetryFailed = cmp.Or(max(out.RetryFailed, 0), time.Minute)
	out.Burst = cmp.Or(max(out.Burst, 0), 16)
	out.Pause = cmp.Or(max(out.Pause, 0), time.Second)
	out.Forget = cmp.Or(max(out.Forget, 0), 24*time.Hour)
	return out
}

// Evaluations remembers the results of rules, as data: it survives a restart if
// it is stored as JSON. The zero value remembers nothing. It is an immutable
// value; methods return a new one.
type Evaluations struct {
	List []Evaluation `json:"list,omitempty"` // sorted by type and query
	Last time.Time    `json:"last,omitzero"`  // when the last burst began
}

// Due returns the rules that must be evaluated now, at most Burst of them: those
// without a result, then those with the oldest. Equally old ones are ordered by
// release, the newest first, and those of one release by the names of their
// risks. wake is when to ask again, or zero. The result notes that the rules of
// updates are needed; it forgets the rest in time.
//
// Only rules that can decide are returned: the first rule of a risk with a known
// type, and the next one if that failed.
func (e Evaluations) Due(updates []Update, now time.Time, policy *EvaluationPolicy) (next Evaluations, due []Rule, wake time.Time) {
	p := policy.withDefaults()
	needed := e.needed(updates)
	next = Evaluations{Last: e.Last}
	known := map[Rule]bool{}
	for _, v := range e.List {
		if _, ok := needed[v.Rule]; ok {
			v.Asked = now
			known[v.Rule] = true
		} else if now.Sub(v.Asked) >= p.Forget {
			continue
		}
		next.List = append(next.List, v)
	}
	for rule := range needed {
		if !known[rule] {
			next.List = append(next.List, Evaluation{Rule: rule, Asked: now})
		}
	}
	slices.SortFunc(next.List, func(a, b Evaluation) int { return a.Rule.compare(b.Rule) })
	due, wake = next.stale(needed, now, p)
	if len(due) > 0 {
		next.Last = now
	}
	return next, due, wake
}

// needed returns the rules that can decide about updates, each with its rank: by
// release, the newest first, then by the name of the risk.
func (e Evaluations) needed(updates []Update) map[Rule]int {
	type risk struct {
		version semverx.Version
		risk    Risk
	}
	var risks []risk
	for _, u := range updates {
		v, _ := semverx.Parse(u.Version) // an update without a version comes last
		for _, r := range u.Risks {
			risks = append(risks, risk{v, r})
		}
	}
	slices.SortStableFunc(risks, func(a, b risk) int {
		return cmp.Or(b.version.Compare(a.version), cmp.Compare(a.risk.Name, b.risk.Name))
	})
	rank := map[Rule]int{}
	for _, r := range risks {
		for _, rule := range e.wanted(r.risk) {
			if _, ok := rank[rule]; !ok {
				rank[rule] = len(rank)
			}
		}
	}
	return rank
}

// compare orders rules by type and query.
func (r Rule) compare(s Rule) int {
	return cmp.Or(cmp.Compare(r.Type, s.Type), cmp.Compare(r.Query, s.Query), cmp.Compare(r.Other, s.Other))
}

// wanted returns the rules of a risk that are needed to find out whether a
// cluster is exposed, as far as known now.
func (e Evaluations) wanted(r Risk) []Rule {
	var list []Rule
	for _, rule := range r.MatchingRules {
		switch {
		case !rule.Known():
			continue
		case rule.Type == RuleAlways:
			return list
		}
		list = append(list, rule)
		if v, ok := e.find(rule); !ok || v.Result != Failed {
			return list
		}
	}
	return list
}

// stale returns which of the needed rules to evaluate now.
func (e Evaluations) stale(rank map[Rule]int, now time.Time, p EvaluationPolicy) (due []Rule, wake time.Time) {
	earliest := func(t time.Time) {
		if wake.IsZero() || t.Before(wake) {
			wake = t
		}
	}
	var list []Evaluation
	for _, v := range e.List {
		if _, ok := rank[v.Rule]; !ok {
			continue
		}
		if at := v.next(p); v.At.After(now) || !at.After(now) { // in the future: the clock was set back
			list = append(list, v)
		} else {
			earliest(at)
		}
	}
	if len(list) == 0 {
		return nil, wake
	}
	if ready := e.Last.Add(p.Pause); !e.Last.IsZero() && ready.After(now) && !e.Last.After(now) {
		earliest(ready)
		return nil, wake
	}
	slices.SortFunc(list, func(a, b Evaluation) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(rank[a.Rule], rank[b.Rule]))
	})
	for _, v := range list[:min(len(list), p.Burst)] {
		due = append(due, v.Rule)
	}
	if len(list) > p.Burst {
		earliest(now.Add(p.Pause))
	}
	return due, wake
}

// next is when to evaluate the rule again.
func (v *Evaluation) next(p EvaluationPolicy) time.Time {
	switch v.Result {
	case "":
		return time.Time{}
	case Failed:
		return v.At.Add(p.RetryFailed)
	}
	return v.At.Add(p.Every)
}

func (e Evaluations) find(rule Rule) (Evaluation, bool) {
	i, ok := slices.BinarySearchFunc(e.List, rule, func(v Evaluation, r Rule) int { return v.Rule.compare(r) })
	if !ok {
		return Evaluation{}, false
	}
	return e.List[i], true
}

// With returns e with the result of a rule at the given time. err says that the
// evaluation failed.
func (e Evaluations) With(rule Rule, matches bool, err error, at time.Time) Evaluations {
	v := Evaluation{Rule: rule, Result: NotMatch, At: at, Asked: at}
	switch {
	case err != nil:
		v.Result, v.Message = Failed, err.Error()
	case matches:
		v.Result = Match
	}
	out := Evaluations{List: slices.Clone(e.List), Last: e.Last}
	i, there := slices.BinarySearchFunc(out.List, rule, func(v Evaluation, r Rule) int { return v.Rule.compare(r) })
	if there {
		v.Asked = out.List[i].Asked
		out.List[i] = v
	} else {
		out.List = slices.Insert(out.List, i, v)
	}
	return out
}

// exposed says whether a cluster is exposed to a risk: the first rule that can
// be evaluated decides. If none can, the message says why for each.
func (e Evaluations) exposed(r Risk) (Result, string) {
	var reasons []string
	for _, rule := range r.MatchingRules {
		if !rule.Known() {
			reasons = append(reasons, fmt.Sprintf("rules of type %q are not known", rule.Type))
			continue
		}
		if rule.Type == RuleAlways {
			return Match, ""
		}
		switch v, _ := e.find(rule); v.Result {
		case Match, NotMatch:
			return v.Result, ""
		case Failed:
			reasons = append(reasons, v.Message)
		default:
			reasons = append(reasons, "the "+rule.Type+" query has not been evaluated yet")
		}
	}
	if len(reasons) == 0 {
		return Failed, "the risk has no rules"
	}
	return Failed, strings.Join(reasons, "; ")
}
