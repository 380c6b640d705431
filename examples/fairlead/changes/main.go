// Package changes is the verb changes: it says what differs between two dumps of a cluster.
package changes

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
)

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "changes",
		Usage: "OLD [NEW] [-v] [-o text|json|yaml]",
		About: "say what changed between two dumps of a cluster: the update, operators, pools, nodes, machines, pods, budgets, subscriptions",
		Help: `OLD and NEW are files, directories or archives, such as two must-gathers; one of them may be - for standard input.
Without NEW, OLD is compared with the running cluster.
  -v                 leave nothing out
What only one of the dumps has looked at is no change.
exit status: 0 nothing changed, 1 something did, or is not known, 2 bad input`,
		Examples: `fairlead changes yesterday.yaml today.yaml
			fairlead changes yesterday.yaml -context prod`,
		Run: run,
	}
}

// result is the JSON of the verb.
type result struct {
	From    snapshot.Clock    `json:"from"`              // when OLD was made
	To      snapshot.Clock    `json:"to"`                // when NEW was made
	Changes []snapshot.Change `json:"changes"`           // in the order of the facts
	Unknown []cvo.Gap         `json:"unknown,omitempty"` // what one of them does not know
}

// most is how many changes are printed without -v.
const most = 20

func run(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	all := c.Flags.Bool("v", false, "")
	from := reading.Declare(c)
	from.Informative = true
	c.Beside("clock", nil) // there are two
	if err := c.Parse(1, 2); err != nil {
		return err
	}
	if len(c.Args) == 1 && !from.Running("") {
		return &args.UsageError{Text: "missing argument NEW: without it, -context says which running cluster is compared with OLD"}
	}
	before, err := from.Stored().Read(c.Args[0])
	if err != nil {
		return err
	}
	after, err := from.Read(c.Arg(1))
	if err != nil {
		return err
	}
	if a, b := before.Identity, after.Identity; a.ID != "" && b.ID != "" && a.ID != b.ID {
		return fmt.Errorf("%s and %s are of two clusters: the clusterIDs are %s and %s", c.Args[0], cmp.Or(c.Arg(1), "the running cluster"), a.ID, b.ID)
	}
	r := result{before.Clock, after.Clock, snapshot.Changes(before, after), append(unknown(before, "OLD"), unknown(after, "NEW")...)}
	if *form == "json" {
		err = c.JSON(r)
	} else {
		text(c, &r, *all)
	}
	if err == nil && len(r.Changes)+len(r.Unknown) > 0 {
		return args.ErrFindings
	}
	return err
}

// unknown returns what a dump does not know of the kinds that every cluster has, or of which it knows a
// part.
func unknown(s *snapshot.Snapshot, which string) []cvo.Gap {
	gaps := s.Missing("Node", "Pod", "PodDisruptionBudget")
	if s.Version() != nil {
		gaps = append(gaps, s.Missing("ClusterOperator", "MachineConfigPool")...)
	}
	for i := range gaps {
		gaps[i].What += " in " + which
	}
	return gaps
}

func text(c *args.Call, r *result, all bool) {
	if !r.From.At.IsZero() && !r.To.At.IsZero() {
		fmt.Fprintf(c.Stdout, "from %s to %s\n", r.From.At.UTC().Format(time.RFC3339), r.To.At.UTC().Format(time.RFC3339))
	}
	if len(r.Changes) == 0 {
		fmt.Fprintln(c.Stdout, "nothing that is known of both changed")
	}
	for i, x := range r.Changes {
		if left := len(r.Changes) - i; !all && i == most && left > 1 {
			fmt.Fprintf(c.Stdout, "and %d more changes; -v lists them\n", left)
			break
		}
		page.Fold(c.Stdout, "", line(&x))
	}
	gaps := r.Unknown
	if len(gaps) == 0 {
		return
	}
	if all {
		reading.NotKnown(c.Stdout, gaps)
		return
	}
	var what []string
	for _, g := range gaps {
		what = append(what, g.What)
	}
	page.Fold(c.Stdout, "not known: ", words.List(what, "and", 4)+"; -v shows how to get them")
}

// line says what changed.
func line(x *snapshot.Change) string {
	name := strings.TrimSpace(x.Subject + " " + x.What)
	switch {
	case x.Was == "" && x.What == "":
		return name + " is new: " + x.Is
	case x.Is == "" && x.What == "":
		return name + " is gone: it was " + x.Was
	case x.Was == "":
		return name + ": " + x.Is + ", and nothing before"
	case x.Is == "":
		return name + ": nothing any more, " + x.Was + " before"
	}
	return name + ": " + x.Was + " → " + x.Is
}
