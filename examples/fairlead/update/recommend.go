package update

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/examples/internal/reading"
)

func recommendCommand() *args.Command {
	return &args.Command{
		Name:  "recommend",
		Usage: "PREFIX|DIR|FILE|- [-to V] [-accept NAME]... [-all] [-o text|json|yaml]",
		About: "recommend an update for a dumped cluster, and explain why the others are not",
		Help: dumpHelp + `  -to V              assess only this update
  -accept NAME       accept this risk, alert or reason
  -all               also list older updates`,
		Run: recommend,
	}
}

func recommend(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	to := c.Flags.String("to", "", "")
	all := c.Flags.Bool("all", false, "")
	accept := c.Words("accept")
	from := reading.Declare(c)
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	dump, _, err := readDump(from, c.Args[0])
	if err != nil {
		return err
	}
	if dump.Version == nil {
		return fmt.Errorf("%s: it contains no ClusterVersion; add the output of kubectl get clusterversion version -o yaml", c.Args[0])
	}
	c.Unused("accept", *accept, acceptable(dump))
	a := cvo.Advise(dump.Version, dump.Alerts, *accept)
	if *to != "" {
		return recommendTo(c.Stdout, a, *to)
	}
	if *form == "json" {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(a)
	} else {
		printAdvice(c.Stdout, a, *all)
	}
	if err == nil && (a.Take == "" && len(a.Choices) > 0 || len(a.Concerns) > 0 && a.Concerns[0].Severity == cvo.SeverityError) {
		return args.ErrFindings
	}
	return err
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
			fmt.Fprintf(w, "Updates to %s:\n", m)
		}
		if shown++; shown > 2 && !all {
			hidden++
			continue
		}
		fmt.Fprintf(w, "  %-12s %s\n", c.Release.Version, verdict(c))
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

// recommendTo reports on one update. An update is a finding if anything argues
// against it.
func recommendTo(w io.Writer, a *cvo.Advice, to string) error {
	for i := range a.Choices {
		c := &a.Choices[i]
		if c.Release.Version != to {
			continue
		}
		fmt.Fprintf(w, "%s: %s\nimage: %s\n", to, verdict(c), c.Release.Image)
		if c.Release.URL != "" {
			fmt.Fprintf(w, "more: %s\n", c.Release.URL)
		}
		if c.Recommended != cvo.True {
			fmt.Fprintln(w, c.Message)
		}
		for _, p := range c.Findings {
			fmt.Fprintln(w, p)
		}
		printChecks(w, a)
		for _, f := range a.Concerns {
			fmt.Fprintf(w, "%s: %s\n  next: %s\n", f.Severity, f.Message, f.Next)
		}
		if !c.Clear() || len(a.Concerns) > 0 && a.Concerns[0].Severity == cvo.SeverityError {
			return args.ErrFindings
		}
		return nil
	}
	return fmt.Errorf("%s is not an update of %s in channel %s; %s", to, a.Current, a.Channel, a.Why)
}
