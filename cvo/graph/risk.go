package graph

// The known types of rules.
const (
	RuleAlways = "Always" // matches every cluster
	RulePromQL = "PromQL" // matches if a Prometheus query returns one sample of 1, and not if it returns one of 0
	RuleCEL    = "CEL"    // matches if a CEL expression over facts of the cluster is true; not part of the service's format
)

// Rule says which clusters a risk affects. Rules are comparable: equal ones
// need to be evaluated only once.
type Rule struct {
	Type  string // RuleAlways, RulePromQL, RuleCEL, or one that is unknown here
	Query string // the query or expression, if the type has one
	Other string // the rule as compact JSON, if its type is unknown or its form is wrong
}

// Known reports whether the rule has a known type and the right form.
func (r Rule) Known() bool { return r.Other == "" }

// Risk is something that may go wrong with an update.
type Risk struct {
	Name    string // one word in CamelCase
	URL     string // its documentation
	Message string // what may go wrong, for people
	// MatchingRules say which clusters are exposed: the first that can be
	// evaluated decides.
	MatchingRules []Rule
}

// Update is a release that can be updated to at once.
type Update struct {
	Release
	// Risks are the risks of the update, in the order of the graph. An update
	// without any is recommended for every cluster.
	Risks []Risk
}
