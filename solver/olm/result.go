package olm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// Candidate is a bundle as one channel of one catalog offers it.
type Candidate struct {
	Package string `json:"package"` // the package's name
	Channel string `json:"channel"` // the channel's name
	Name    string `json:"name"`    // the bundle's name, which is also that of its CSV
	// Version is the version that the bundle states, or "".
	Version string `json:"version"`
	// Source is the catalog.
	Source SourceKey `json:"source"`
	// Bundle is the bundle itself.
	Bundle *catalog.Bundle `json:"-"`
}

func candidateOf(e *entry) Candidate {
	return Candidate{
		Package: e.pkg,
		Channel: e.channelName(),
		Name:    e.name,
		Version: e.bundle.Version(),
		Source:  e.source.SourceKey,
		Bundle:  e.bundle,
	}
}

// String returns "package/channel/name".
func (c Candidate) String() string { return c.Package + "/" + c.Channel + "/" + c.Name }

// Choice is a bundle to install, newly or as an update.
type Choice struct {
	Candidate
	// Replaces is what the installed CSV will state as replaces: for an update
	// the CSV that it updates, otherwise what its channel states.
	Replaces string `json:"replaces,omitempty"`
	// Updates is the installed CSV that it replaces, or "".
	Updates string `json:"updates,omitempty"`
	// StartingCSV is the bundle's name if a subscription's startingCSV picked it,
	// and "" otherwise.
	StartingCSV string `json:"startingCSV,omitempty"`
	// Subscriptions are the names of those that it serves, in the order served.
	// There are none for a bundle that only other bundles require.
	Subscriptions []string `json:"subscriptions,omitempty"`
	// RequiredBy are the requirements of other operators that it meets, by the
	// operator's name, then in property order.
	RequiredBy []Requirement `json:"requiredBy,omitempty"`
}

// Deprecations returns what the catalog says of the package, the channel and the
// bundle that were chosen, in its order. The error is that of reading it.
func (c *Choice) Deprecations() ([]catalog.Deprecation, error) {
	if c.Bundle == nil {
		return nil, nil
	}
	all, err := c.Bundle.Package().Deprecations()
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", c.Package, err)
	}
	var mine []catalog.Deprecation
	for _, d := range all {
		concerns := map[string]bool{
			catalog.SchemaPackage: true,
			catalog.SchemaChannel: d.Reference.Name == c.Channel,
			catalog.SchemaBundle:  d.Reference.Name == c.Name,
		}
		if concerns[d.Reference.Schema] {
			mine = append(mine, d)
		}
	}
	return mine, nil
}

// deprecated warns of deprecations.
func (c *Choice) deprecated() []Warning {
	all, err := c.Deprecations()
	if err != nil {
		return []Warning{{Subject: "csv " + c.Name, Text: "its deprecations are not known: " + err.Error()}}
	}
	var out []Warning
	for _, d := range all {
		subject := map[string]string{catalog.SchemaPackage: "package " + c.Package, catalog.SchemaChannel: "channel " + c.Channel, catalog.SchemaBundle: "csv " + c.Name}[d.Reference.Schema]
		out = append(out, Warning{Subject: subject, Text: "deprecated: " + strings.Join(strings.Fields(d.Message), " ")})
	}
	return out
}

// compare orders choices by package, channel, name and catalog.
func (c Choice) compare(o Choice) int {
	return cmp.Or(strings.Compare(c.Package, o.Package), strings.Compare(c.Channel, o.Channel),
		strings.Compare(c.Name, o.Name), c.Source.Compare(o.Source))
}

// Requirement is a demand that one operator makes on others.
type Requirement struct {
	// Operator is the name of the CSV that demands it.
	Operator string `json:"operator"`
	// Text says what is demanded.
	Text string `json:"text"`
}

// Resolution says what to install or update in a namespace.
type Resolution struct {
	// Chosen are the new operators, by package, channel, name and catalog.
	Chosen []Choice `json:"chosen"`
	// Subscriptions says how each is served, in the order served.
	Subscriptions []Outcome `json:"subscriptions"`
	// Generated are the subscriptions for bundles that were chosen only because
	// others require them, in the order of Chosen.
	Generated []Subscription `json:"generated,omitempty"`
	// Blocked are the conflicts that were left out; see Options.PartialOK.
	Blocked []*UnsatError `json:"-"`
	// Warnings are noteworthy facts that do not change the answer, in a fixed
	// order.
	Warnings []Warning `json:"warnings,omitempty"`
}

// Outcome is how one subscription is served.
type Outcome struct {
	// Subscription is its name.
	Subscription string `json:"subscription"`
	// Operator is the name of the CSV that serves it, newly or as before. It is
	// "" if the subscription is blocked.
	Operator string `json:"operator"`
	// New reports whether Operator is newly chosen.
	New bool `json:"new"`
	// Head is the name of the CSV at the head of the channel that Operator was
	// chosen from, or would be updated along.
	Head string `json:"head,omitempty"`
	// Why says, in full sentences, why Operator is not the head: which preferred
	// candidates could not be chosen. It is empty if Operator is the head and no
	// preferred candidate was rejected, or if the subscription requested
	// something else.
	Why []string `json:"why,omitempty"`
	// Blocked is why the subscription cannot be served together with those that
	// are; nil if Operator serves it.
	Blocked *UnsatError `json:"-"`
}

// Warning is a fact that needs attention.
type Warning struct {
	Subject string `json:"subject"` // what it is about, such as "catalog ns/name"
	Text    string `json:"text"`    // one line
}
