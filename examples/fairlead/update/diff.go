package update

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

func diffCommand() *args.Command {
	return &args.Command{
		Name:  "diff",
		Usage: "OLDDIR NEWDIR [-o text|json|yaml] [-profile P] [-feature-set F] [-gates A,B] [-major N]",
		About: "compare two releases, and report changes that may go wrong",
		Help: `OLDDIR and NEWDIR are payload directories, as for plan.
  -profile P         the cluster profile (self-managed-high-availability)
  -feature-set F     the feature set (Default)
  -gates A,B         the enabled feature gates
  -major N           the major version of the cluster`,
		Run: diff,
	}
}

func diff(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	filter := filterFlags(c)
	if err := c.Parse(2, 2); err != nil {
		return err
	}
	before, err := load(c, c.Args[0], filter)
	if err != nil {
		return err
	}
	after, err := load(c, c.Args[1], filter)
	if err != nil {
		return err
	}
	d := payload.Diff(before, after)
	if *form == "json" {
		e := json.NewEncoder(c.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(d); err != nil {
			return err
		}
	} else {
		printDiff(c.Stdout, d)
	}
	if len(d.Risks()) > 0 {
		return args.ErrFindings
	}
	return nil
}

func printDiff(w io.Writer, d *payload.Difference) {
	words.Fprintf(w, "release %s to %s: %s, %s\n", d.From, d.To, words.Count(len(d.Changes), "change", "changes"), words.Count(len(d.Risks()), "risk", "risks"))
	for _, c := range d.Changes {
		words.Fprintf(w, "%-9s %s\n", c.Kind, c.ID)
		switch {
		case c.From != nil && c.To != nil && c.From.File != c.To.File:
			words.Fprintf(w, "          from %s\n          to   %s\n", c.From.File, c.To.File)
		case c.To != nil:
			words.Fprintf(w, "          in %s\n", c.To.File)
		default:
			words.Fprintf(w, "          was in %s\n", c.From.File)
		}
		if len(c.Fields) > 0 {
			words.Fprintf(w, "          fields: %s\n", strings.Join(c.Fields, ", "))
		}
		if c.Reason != "" {
			words.Fprintf(w, "          left out: %s\n", c.Reason)
		}
		if c.Risk != "" {
			words.Fprintf(w, "          risk: %s\n", c.Risk)
		}
	}
	for _, i := range d.Images {
		words.Fprintf(w, "image     %s: %s to %s\n", i.Tag, orNone(i.From), orNone(i.To))
	}
	if len(d.Capabilities) > 0 {
		words.Fprintf(w, "capabilities that resources need from now on: %s\n", strings.Join(d.Capabilities, ", "))
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
