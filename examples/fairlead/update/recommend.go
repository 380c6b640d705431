package update

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
)

func recommendCommand() *args.Command {
	return &args.Command{
		Name:  "recommend",
		Usage: "PREFIX|DIR|FILE|- [-graph FILE] [-to V] [-accept NAME]... [-all] [-o text|json|yaml]",
		About: "recommend an update for a dumped cluster, and explain why the others are not",
		Help: dumpHelp + `  -graph FILE        the update graph, as the update service returns it; default: the updates in the ClusterVersion
  -to V              assess only this update
  -accept NAME       accept this risk, alert or reason
  -all               also list older updates`,
		Run: recommend,
	}
}

func recommend(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	to := c.Flags.String("to", "", "")
	all := c.Flags.Bool("all", false, "")
	file := c.Flags.String("graph", "", "")
	accept := c.Words("accept")
	from := reading.Declare(c)
	from.Kinds = []string{"ClusterVersion"}
	if err := c.Parse(0, 1); err != nil {
		return err
	}
	known, err := readDump(from, c.Arg(0))
	if err != nil {
		return err
	}
	dump := known.UpdateDump()
	if dump.Version == nil {
		return from.Without(c.Arg(0), "it contains no ClusterVersion", "add the output of kubectl get clusterversion version -o yaml")
	}
	if *file != "" {
		if err := useGraph(dump.Version, *file, dump.At); err != nil {
			return err
		}
	}
	c.Unused("accept", *accept, acceptable(dump))
	a := cvo.Advise(dump.Version, dump.Alerts, *accept)
	if *to != "" {
		return recommendTo(c.Stdout, a, *to)
	}
	if *form == "json" {
		err = c.JSON(a)
	} else {
		printAdvice(c.Stdout, a, *all)
	}
	if err == nil && (a.Take == "" && len(a.Choices) > 0 || a.Unknown || a.Refused != nil || len(a.Concerns) > 0 && a.Concerns[0].Severity == cvo.SeverityError) {
		return args.ErrFindings
	}
	return err
}

// useGraph puts the updates of an update graph in place of those that the ClusterVersion
// lists: those in its channel, with what it says about their risks.
func useGraph(cv *cvo.ClusterVersion, file string, at time.Time) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return unread(err, file, "name the JSON of an update graph")
	}
	g, found := graph.Parse(text, &graph.Options{File: file})
	if g == nil {
		return found.Err()
	}
	u, err := g.Updates(cv.Status.Desired.Version)
	if err != nil {
		return fmt.Errorf("-graph %s: %w", file, err)
	}
	elsewhere := func(x graph.Update) bool {
		return len(x.Channels()) > 0 && cv.Spec.Channel != "" && !slices.Contains(x.Channels(), cv.Spec.Channel)
	}
	u.Available, u.Conditional = slices.DeleteFunc(u.Available, elsewhere), slices.DeleteFunc(u.Conditional, elsewhere)
	var known graph.Evaluations
	for i := range cv.Status.ConditionalUpdates {
		listed := &cv.Status.ConditionalUpdates[i]
		for _, r := range listed.Risks {
			is := cv.RiskApplies(listed, r.Name)
			for _, rule := range r.MatchingRules {
				if is != cvo.Unknown {
					known = known.With(rule, is == cvo.True, nil, at)
				}
			}
		}
	}
	cv.Status.AvailableUpdates, cv.Status.ConditionalUpdates = cvo.Offers(u, known, nil, &cv.Status, at)
	if cv.Status.AvailableUpdates == nil {
		cv.Status.AvailableUpdates = []cvo.Release{}
	}
	return nil
}

// acceptable returns the names that -accept can have: everything that argues against an
// update while nothing is accepted.
func acceptable(d *cvo.Dump) []string {
	cv := *d.Version
	cv.Spec.DesiredUpdate = nil
	a := cvo.Advise(&cv, d.Alerts, nil)
	var names []string
	for _, f := range a.Concerns {
		names = append(names, f.Reason)
	}
	for _, alert := range d.Alerts {
		names = append(names, alert.Labels["alertname"])
	}
	for i := range a.Choices {
		names = append(names, a.Choices[i].Reasons...)
	}
	return names
}

func printAdvice(w io.Writer, a *cvo.Advice, all bool) {
	others := slices.DeleteFunc(slices.Clone(a.Channels), func(name string) bool { return name == a.Channel })
	page.Fold(w, "", fmt.Sprintf("%s, channel %s (others: %s)", a.Current, cmp.Or(a.Channel, "none"), cmp.Or(strings.Join(others, ", "), "none")))
	page.Fold(w, "", a.Why)
	printChecks(w, a)
	for _, f := range a.Concerns {
		page.Fold(w, "  "+string(f.Severity)+": ", f.Message)
		page.Fold(w, "    next: ", f.Next)
	}
	minor, shown, hidden := "", 0, 0
	rest := func() {
		if hidden > 0 {
			fmt.Fprintf(w, "  and %d older; show them with -all\n", hidden)
		}
		hidden = 0
	}
	for i := range a.Choices {
		c := &a.Choices[i]
		if m := c.Release.Minor(); m != minor {
			rest()
			minor, shown = m, 0
			words.Fprintf(w, "Updates to %s:\n", m)
		}
		if shown++; shown > 2 && !all {
			hidden++
			continue
		}
		words.Fprintf(w, "  %-12s %s\n", c.Release.Version, verdict(c))
		for _, r := range c.Risks {
			page.Fold(w, "      "+r.Name+": ", strings.TrimSpace(r.Message+" "+r.URL))
		}
		if why := unevaluated(c); why != "" {
			page.Fold(w, "      why unknown: ", why)
		}
	}
	rest()
}

// printChecks prints which checks succeeded, and what is not known.
func printChecks(w io.Writer, a *cvo.Advice) {
	if len(a.Checked) > 0 {
		page.Fold(w, "checked: ", strings.Join(a.Checked, "; "))
	}
	if len(a.Unchecked) > 0 {
		page.Fold(w, "not known: ", strings.Join(a.Unchecked, "; "))
	}
}

// verdict describes in a few words what argues against an update.
func verdict(c *cvo.Choice) string {
	switch {
	case c.Clear() && len(c.Findings) == 0 && len(c.Accepted) > 0:
		return "accepted: " + strings.Join(c.Accepted, ", ")
	case c.Clear() && len(c.Findings) == 0:
		return "no known issues"
	case c.Blocked:
		return "would be refused: " + strings.Join(c.Reasons, ", ")
	case c.Recommended == cvo.True:
		return "no known issues; note " + strings.Join(c.Reasons, ", ")
	case c.Recommended == cvo.Unknown:
		return "unknown whether its risks apply: " + strings.Join(c.Reasons, ", ")
	}
	return "not recommended: " + strings.Join(c.Reasons, ", ")
}

// evaluation finds why a risk could not be evaluated in the message of a condition.
var evaluation = regexp.MustCompile(`(?s)Could not evaluate exposure to update risk \S+ \((.*?)\)\s*(?:\n|$)`)

// unevaluated says why it is unknown whether the risks of an update apply, or is empty.
func unevaluated(c *cvo.Choice) string {
	if c.Recommended != cvo.Unknown || c.Blocked {
		return ""
	}
	if m := evaluation.FindStringSubmatch(c.Message); m != nil {
		return words.VisibleLine(words.Shorten(strings.Join(strings.Fields(m[1]), " "), 300))
	}
	return ""
}

// recommendTo reports on one update. An update is a finding if anything argues
// against it.
func recommendTo(w io.Writer, a *cvo.Advice, to string) error {
	for i := range a.Choices {
		c := &a.Choices[i]
		if c.Release.Version != to {
			continue
		}
		words.Fprintf(w, "%s: %s\nimage: %s\n", to, verdict(c), c.Release.Image)
		if c.Release.URL != "" {
			words.Fprintf(w, "more: %s\n", c.Release.URL)
		}
		if c.Recommended != cvo.True {
			page.Quote(w, "", c.Message)
		}
		for _, p := range c.Findings {
			words.Fprintf(w, "%v\n", p)
		}
		printChecks(w, a)
		for _, f := range a.Concerns {
			words.Fprintf(w, "%s: %s\n  next: %s\n", f.Severity, f.Message, f.Next)
		}
		if !c.Clear() || len(a.Concerns) > 0 && a.Concerns[0].Severity == cvo.SeverityError {
			return args.ErrFindings
		}
		return nil
	}
	return fmt.Errorf("%s is not an update of %s in channel %s; %s", to, a.Current, a.Channel, a.Why)
}
