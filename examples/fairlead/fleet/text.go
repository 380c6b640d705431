package fleet

import (
	"fmt"
	"io"
	"strings"

	engine "github.com/fairlead/fairlead/cvo/plan/fleet"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
)

// mostGroups are how many groups are listed without -v.
const mostGroups = 6

// tones are the colours of the beginnings of lines on a terminal.
var tones = map[string]args.Colour{"GO": args.Good, "DONE": args.Good, "BLOCKED": args.Bad, "UNKNOWN": args.Warning, "FAILING": args.Bad, "WORSE": args.Bad, "BETTER": args.Good}

// text prints a survey: a line of counts, the groups, what would change, and whose turn it is.
func text(c *args.Call, out *survey, f *call) error {
	w := c.Painted(args.Leading(tones))
	all := c.Flags.Lookup("v").Value.String() == "true"
	counts := map[string]int{}
	total := 0
	for i := range out.Groups {
		counts[word(&out.Groups[i])] += len(out.Groups[i].Clusters)
		total += len(out.Groups[i].Clusters)
	}
	head := fmt.Sprintf("%s: %d can be updated", words.Count(total, "cluster", "clusters"), counts["GO"])
	for _, k := range []struct{ word, said string }{{"DONE", "done"}, {"BLOCKED", "blocked"}, {"UNKNOWN", "not known"}} {
		if n := counts[k.word]; n > 0 {
			head += fmt.Sprintf(", %d %s", n, k.said)
		}
	}
	page.Fold(w, "", head)
	for i := range out.Groups {
		if !all && i == mostGroups && len(out.Groups) > mostGroups+1 {
			fmt.Fprintf(w, "and %d more groups; -v lists them\n", len(out.Groups)-i)
			break
		}
		standing(w, &out.Groups[i], all)
	}
	under(w, out.Under, all)
	changes(w, out, f, all)
	if d := out.Due; d != nil && counts["GO"] > 0 {
		page.Fold(w, "", "due: "+d.String())
	}
	if all {
		for _, x := range out.Waiting {
			page.Fold(w, "  ", x.Why)
		}
	} else if n := len(out.Waiting); n > 0 {
		page.Fold(w, "", fmt.Sprintf("%s; -v says why: %s", words.Count(n, "cluster waits for its turn", "clusters wait for their turn"), out.Waiting[0].Why))
	}
	if n := len(out.Skipped); n > 0 {
		most := 3
		if all {
			most = n
		}
		page.Fold(w, "", fmt.Sprintf("skipped: %s, no %s by %s", words.List(out.Skipped, "and", most), words.Plural(n, "dump", "dumps"), words.Plural(n, "its name", "their names")))
	}
	return nil
}

// word is the verdict about clusters.
func word(s *engine.Standing) string {
	switch {
	case s.Error != "", s.Goes() && s.Steps == 0 && s.Unseen > 0:
		return "UNKNOWN"
	case !s.Goes():
		return "BLOCKED"
	case s.Steps == 0 && s.Unseen == 0:
		return "DONE"
	}
	return "GO"
}

// standing prints a group: its clusters, and what prevents their update or how long it takes.
func standing(w io.Writer, s *engine.Standing, all bool) {
	names := words.List(s.Clusters, "and", 3)
	if all {
		names = words.List(s.Clusters, "and", len(s.Clusters))
	}
	page.Fold(w, fmt.Sprintf("%-8s %d  ", word(s), len(s.Clusters)), names+result(s))
	const indent = "            "
	if len(s.Facts) > 1 {
		for i, fact := range s.Facts {
			if !all && i == 3 && len(s.Facts) > 4 {
				fmt.Fprintf(w, "%sand %d more; -v lists them\n", indent, len(s.Facts)-i)
				break
			}
			page.Fold(w, indent, fact)
		}
	}
	if len(s.Fixes) > 0 {
		page.Fold(w, indent+"DO ", fmt.Sprintf("%s (then %s)", strings.Join(s.Fixes[0].Do, "; and "), s.Fixes[0].Result()))
	}
}

// result says in a few words what a plan comes to.
func result(s *engine.Standing) string {
	switch word(s) {
	case "UNKNOWN":
		if s.Error == "" {
			return fmt.Sprintf(": nothing is left to do, as far as is known; %s not known", words.Count(s.Unseen, "thing is", "things are"))
		}
		return ": " + s.Error
	case "BLOCKED":
		if len(s.Facts) == 1 {
			return ": " + s.Facts[0]
		}
		return ":"
	case "DONE":
		return ": nothing to do"
	}
	text := fmt.Sprintf(": to %s in %s, %s", s.To, words.Count(s.Steps, "step", "steps"), words.About(s.Takes))
	if s.Unseen > 0 {
		text += fmt.Sprintf("; %s that it depends on %s not known", words.Count(s.Unseen, "thing", "things"), words.Plural(s.Unseen, "is", "are"))
	}
	return text
}

// under prints the clusters that are being updated, those that fail first.
func under(w io.Writer, clusters []engine.Cluster, all bool) {
	for _, status := range []engine.Status{engine.Failed, engine.Progressing} {
		said := map[engine.Status]string{engine.Failed: "FAILING ", engine.Progressing: "UPDATING"}[status]
		var names []string
		for _, c := range clusters {
			if c.Status == status {
				names = append(names, fmt.Sprintf("%s since %s", c.Name, c.Since.UTC().Format("2006-01-02 15:04")))
			}
		}
		if len(names) == 0 {
			continue
		}
		most := 3
		if all {
			most = len(names)
		}
		page.Fold(w, fmt.Sprintf("%s %d  ", said, len(names)), words.List(names, "and", most))
	}
}

// changes prints what other catalogs would do.
func changes(w io.Writer, out *survey, f *call, all bool) {
	if len(f.newCatalog) == 0 {
		return
	}
	fmt.Fprintf(w, "with %s:\n", words.List(f.newCatalog, "and", 3))
	if len(out.Changes) == 0 {
		fmt.Fprintln(w, "  nothing changes")
	}
	for i := range out.Changes {
		c := &out.Changes[i]
		verdict := "OTHER "
		switch {
		case c.Before.Goes() && !c.After.Goes():
			verdict = "WORSE "
		case !c.Before.Goes() && c.After.Goes():
			verdict = "BETTER"
		}
		names := words.List(c.Clusters, "and", 3)
		if all {
			names = words.List(c.Clusters, "and", len(c.Clusters))
		}
		text := result(c.After)
		if len(c.After.Facts) > 1 {
			text = ": " + strings.Join(c.After.Facts, "; ")
		}
		page.Fold(w, fmt.Sprintf("%s   %d  ", verdict, len(c.Clusters)), names+text)
	}
}
