package update

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
)

func statusCommand() *args.Command {
	return &args.Command{
		Name:  "status",
		Usage: "PREFIX|DIR|FILE|- [-now TIME] [-v] [-o text|json|yaml]",
		About: "show how far the update of a dumped cluster is, what blocks it, and what is unknown",
		Help: dumpHelp + `  -now TIME          when the files were written (default: the latest time in them)
  -v                 show every operator that is not updated and healthy, every node, and what each finding explains`,
		Run: status,
	}
}

func status(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	var now time.Time
	c.Flags.Func("now", "", func(s string) (err error) {
		if now, err = time.Parse(time.RFC3339, s); err != nil {
			return errors.New("write an instant such as 2026-03-01T12:00:00Z")
		}
		return nil
	})
	all := c.Flags.Bool("v", false, "")
	from := reading.Declare(c)
	if err := c.Parse(0, 1); err != nil {
		return err
	}
	s, err := readDump(from, c.Arg(0))
	if err != nil {
		return err
	}
	if now.IsZero() {
		now = s.Clock.At
	}
	why := diagnosing.AdviceOf(diagnosing.About(s, now, diagnosis.Options{}))
	return ShowStatus(c, cvo.Inspect(s.UpdateDump(), now), why, *form, *all)
}

// statusReport is a report, with what the diagnosis says as one more field.
type statusReport struct {
	*cvo.Report
	why *diagnosing.Advice
}

// MarshalJSON adds the field to those of the report, which writes itself.
func (r statusReport) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.Report)
	if err != nil || r.why == nil {
		return text, err
	}
	why, err := json.Marshal(r.why)
	if err != nil {
		return nil, err
	}
	return slices.Concat(text[:len(text)-1], []byte(`,"diagnosis":`), why, []byte("}")), nil
}

// ShowStatus prints a report as text or json, in full or only the most important parts, with what
// the diagnosis says about the cluster, nil if it was not asked. The error is args.ErrFindings if not
// all is well.
func ShowStatus(c *args.Call, r *cvo.Report, why *diagnosing.Advice, form string, all bool) (err error) {
	if form == "json" {
		err = c.JSON(statusReport{r, why})
	} else {
		err = printStatus(c.Painted(args.Leading(tones)), r, why, all)
	}
	if err == nil && !r.Well() {
		return args.ErrFindings
	}
	return err
}

// The limits of what is printed without -v.
const (
	mostFindings = 5
	mostPools    = 4
)

// tones are the colours of the beginnings of a status's lines on a terminal.
var tones = map[string]args.Colour{
	"Assessment: " + string(cvo.AssessNotUpdating): args.Good, "Assessment: " + string(cvo.AssessCompleted): args.Good,
	"Assessment: " + string(cvo.AssessUnknown): args.Warning, "Assessment: " + string(cvo.AssessSlow): args.Warning,
	"Assessment: " + string(cvo.AssessStalled): args.Bad, "Assessment: " + string(cvo.AssessDegraded): args.Bad,
	"error:": args.Bad, "warning:": args.Warning, "Unknown:": args.Warning,
}

func printStatus(to io.Writer, r *cvo.Report, why *diagnosing.Advice, all bool) error {
	w := page.NewBuffer(to)
	first(w, r, why)
	why.Tell(w, all)
	if r.Target != "" {
		words.Fprintf(w, "Release:    %s\n", release(r))
	}
	if c := r.Completion; c.Known {
		absent := ""
		if c.Absent > 0 {
			absent = fmt.Sprintf(", %d not in the input", c.Absent)
		}
		fmt.Fprintf(w, "Operators:  %d%% (%d updated, %d updating, %d waiting%s); %d healthy, %d unavailable, %d degraded\n", c.Percent, c.Updated, c.Updating, c.Waiting, absent, c.Healthy, c.Unavailable, c.Degraded)
	} else {
		fmt.Fprintln(w, "Operators:  unknown")
	}
	if !why.Some() && !r.Since.IsZero() {
		words.Fprintf(w, "Duration:   %s\n", duration(r))
	}
	for k, p := range r.Pools {
		if k == mostPools && !all && len(r.Pools) > mostPools+1 {
			fmt.Fprintf(w, "and %d more pools; -v shows them\n", len(r.Pools)-k)
			break
		}
		printPool(w, &p)
	}
	if all {
		printTables(w, r)
	}
	shown := r.Findings
	if !all && len(shown) > mostFindings {
		shown = shown[:mostFindings]
	}
	for _, f := range shown {
		printFinding(w, &f, all, explained(r, &f, why))
	}
	if n := len(r.Findings) - len(shown); n > 0 {
		fmt.Fprintf(w, "and %d more findings; -v shows them\n", n)
	}
	if len(r.Gaps) > 0 && !all {
		var what []string
		for _, g := range r.Gaps {
			what = append(what, g.What)
		}
		words.Fprintf(w, "Unknown: %s (-v shows how to get it)\n", words.Shorten(strings.Join(what, "; "), 160))
	}
	for _, g := range r.Gaps {
		if all {
			words.Fprintf(w, "Unknown: %s\n  get it: %s\n", g.What, g.How)
		}
	}
	_, err := to.Write(w.Bytes())
	return err
}

// first prints what is most important: the causes follow, if there are any.
func first(w io.Writer, r *cvo.Report, why *diagnosing.Advice) {
	head, word := r.Headline, string(r.Assessment)
	if why.Some() {
		head = r.Where()
		if why.Word != word {
			word += ", and the cluster is " + why.Word
		}
	}
	page.Fold(w, "", head)
	words.Fprintf(w, "Assessment: %s\n", word)
	if why.Some() && !r.Since.IsZero() {
		words.Fprintf(w, "Duration:   %s\n", duration(r))
	}
}

// release returns the releases of the update.
func release(r *cvo.Report) string {
	switch {
	case r.Install:
		return r.Target + " (a new installation)"
	case r.MultiArch:
		return r.Target + " for several architectures"
	case r.Incomplete:
		return fmt.Sprintf("%s (from incomplete %s)", r.Target, r.From)
	}
	return fmt.Sprintf("%s (from %s)", r.Target, r.From)
}

// duration returns how long the update has taken, and how much time remains.
func duration(r *cvo.Report) string {
	text := r.Duration.Round(time.Second).String()
	switch {
	case !r.Updating && r.Until != nil:
		return text + ", over since " + r.Until.UTC().Format(time.RFC3339)
	case r.Remaining == nil:
		return text + " (remaining time unknown)"
	case *r.Remaining < -10*time.Minute:
		return fmt.Sprintf("%s (%s expected)", text, (r.Duration + *r.Remaining).Truncate(time.Minute))
	case *r.Remaining < 10*time.Minute:
		return text + " (less than 10m remain, as estimated)"
	}
	return fmt.Sprintf("%s (about %s remain, as estimated)", text, r.Remaining.Round(time.Minute))
}

func printPool(w io.Writer, p *cvo.PoolReport) {
	if p.State == "empty" {
		words.Fprintf(w, "Pool %s: empty\n", p.Name)
		return
	}
	if p.Total < 0 {
		words.Fprintf(w, "Pool %s: %s\n", p.Name, p.State)
		return
	}
	words.Fprintf(w, "Pool %s: %s, %d of %d nodes updated", p.Name, p.State, p.Updated, p.Total)
	for _, n := range []struct {
		n    int
		what string
	}{{p.Draining, "draining"}, {p.Degraded, "degraded"}, {p.Down, "unavailable"}, {p.Cordoned, "cordoned"}, {p.Unknown, "of an unknown release"}} {
		if n.n > 0 {
			fmt.Fprintf(w, ", %d %s", n.n, n.what)
		}
	}
	fmt.Fprintln(w)
}

// printTables prints tables of the operators that are not updated or not healthy, and of
// all nodes.
func printTables(w io.Writer, r *cvo.Report) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, o := range r.Operators {
		if o.State != "updated" || o.Health != "healthy" {
			words.Fprintf(table, "operator %s\t%s\t%s\t%s\t%s\n", o.Name, o.State, o.Health, o.Version, words.Shorten(strings.TrimSpace(o.Reason+" "+firstLine(o.Message)), 80))
		}
	}
	for _, n := range r.Nodes {
		available := ""
		if n.Down {
			available = "unavailable"
		}
		words.Fprintf(table, "node %s (%s)\t%s\t%s\t%s\t%s\n", n.Name, n.Pool, n.State, available, cmp.Or(n.Version, "?"), words.Shorten(firstLine(n.Message), 80))
	}
	table.Flush()
}

// explained reports whether the diagnosis says what to do about a finding.
func explained(r *cvo.Report, f *cvo.Finding, why *diagnosing.Advice) bool {
	if strings.HasPrefix(f.Subject, "clusterversion ") && f.Severity != cvo.SeverityError { // such as a risk, or a channel
		return f.Reason == string(r.Assessment) && why.Some()
	}
	return why.Explains(f.Subject) || f.Command != "" && why.Does(f.Command)
}

// printFinding prints a finding; the diagnosis says what to do about one that it explains.
func printFinding(w io.Writer, f *cvo.Finding, all, explained bool) {
	since := ""
	if !f.Since.IsZero() {
		since = " (since " + f.Since.UTC().Format(time.RFC3339) + ")"
	}
	if !all {
		words.Fprintf(w, "%s: %s%s\n", f.Severity, words.Shorten(f.Message, 180), since)
		if explained {
			return
		}
		next := f.Next
		if n := len(f.Explains); n > 1 {
			next = fmt.Sprintf("it explains %d reports; %s", n, next)
		}
		words.Fprintf(w, "  next: %s\n", words.Shorten(next, 180))
		if f.Command != "" {
			words.Fprintf(w, "  run: %s\n", f.Command)
		}
		return
	}
	page.Fold(w, string(f.Severity)+": ", f.Message+since)
	if f.Owner != "" {
		page.Fold(w, "  owner: ", f.Owner)
	}
	page.Fold(w, "  next: ", f.Next)
	if f.Command != "" {
		words.Fprintf(w, "  run: %s\n", f.Command)
	}
	for _, s := range f.Explains {
		page.Fold(w, "  explains: ", words.Shorten(s.Message, 200))
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
