package graph

// The types of rules that are known.
const (
	RuleAlways = "Always" // holds for every cluster
	RulePromQL = "PromQL" // holds where a query of Prometheus yields one sample of 1, and not where it yields one of 0
	RuleCEL    = "CEL"    // holds where a CEL expression over facts of the cluster is true; not of the service's format
)

// Rule says on which clusters a risk matters. Rules are comparable: equal ones
// need to be evaluated once.
type Rule struct {
	Type  string // RuleAlways, RulePromQL, RuleCEL, or one that is not known here
	Query string // the query or expression, where the type has one
	Other string // the rule as JSON, where its type is not known or its form is wrong
}

// Known reports whether the rule has a type that is known, in its right form.
func (r Rule) Known() bool { return r.Other == "" }

// Risk is something that may go wrong with an update.
type Risk struct {
	Name    string // one word in CamelCase
	URL     string // where people can read of it
	Message string // what may go wrong, for people
	// MatchingRules say which clusters are exposed: the first that can be
	// evaluated decides.
	MatchingRules []Rule
}

// Update is a release that can be updated to at once.
type Update struct {
	Release
	// Risks are what the update is recommended under, in the order of the
	// graph. An update without any is recommended for every cluster.
	Risks []Risk
}
