// Package fleet is the verb fleet: which clusters can be updated, what prevents the others,
// and whose turn it is.
package fleet

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/plan"
	engine "github.com/fairlead/fairlead/cvo/plan/fleet"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/situation"
)

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "fleet",
		Usage: "DIR " + situation.Usage + " [-new-catalog [MINOR=]PATH]... [-first CLUSTER]... [-at-once N|P%] [-failures N|P%] [-soak TIME] [-deadline TIME] [-v] [-o text|json|yaml]",
		About: "say which clusters of a fleet can be updated, what prevents the others, and whose turn it is",
		Help: `DIR contains a dump of each cluster: a file, an archive or a directory, as for plan, whose name is
that of the cluster. Files like README.md are skipped. Clusters with the same result are listed together.
` + situation.Help + `
  -new-catalog [MINOR=]PATH  also say what would change if operators were updated from this catalog
  -first CLUSTER             the others begin when these are done, all of them
  -at-once N|P%              how many may be under way or soak at a time (default: all)
  -failures N|P%             how many may fail before no other begins (default: none)
  -soak TIME                 how long one that is done holds its place, such as 24h
  -deadline TIME             how long one may be under way before it counts as failed
  -v                         list all clusters, and why it is not the turn of each
exit status: 0 all clusters can be updated, 1 some cannot, or nobody knows, 2 bad input`,
		Examples: `fairlead fleet clusters -to 4.20 -graph GRAPH.json
			fairlead fleet clusters -to 4.20 -first test -at-once 10% -soak 24h
			fairlead fleet clusters -to 4.20 -catalog old -new-catalog new`,
		Configured: []string{"graph"},
		Run:        run,
	}
}

// survey is what the verb prints.
type survey struct {
	*engine.Report
	Changes []engine.Change  `json:"changes,omitempty"` // by -new-catalog
	Under   []engine.Cluster `json:"under,omitempty"`   // those under way, or failing
	Due     *engine.Choice   `json:"due,omitempty"`     // whose turn it is
	Waiting []waiting        `json:"waiting,omitempty"` // whose turn it is not
	Skipped []string         `json:"skipped,omitempty"` // files that are no dumps, by their names
}

// waiting is a cluster that could be updated, and whose turn it is not.
type waiting struct {
	Cluster string `json:"cluster"`
	Why     string `json:"why"`
}

// call is one call of the verb.
type call struct {
	*args.Call
	flags      *situation.Flags
	before     map[string]*catalog.Catalog
	after      map[string]*catalog.Catalog // nil without -new-catalog
	members    []engine.Member
	then       []engine.Member // with the new catalogs
	unread     []engine.Standing
	skipped    []string
	at         time.Time // the latest time at which a cluster was looked at
	strategy   engine.Strategy
	first      []string
	newCatalog []string
}

func run(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	f := &call{Call: c, flags: situation.Declare(c)}
	changed, first := c.Words("new-catalog"), c.Words("first")
	c.Flags.DurationVar(&f.strategy.Soak, "soak", 0, "")
	c.Flags.DurationVar(&f.strategy.Deadline, "deadline", 0, "")
	share := func(name string, into *fairlead.IntOrString) {
		c.Flags.Func(name, "", func(text string) error {
			if n, err := strconv.Atoi(text); err == nil {
				*into = fairlead.IntOrString{Int: n}
			} else {
				*into = fairlead.IntOrString{Text: text}
			}
			return nil
		})
	}
	share("at-once", &f.strategy.Concurrency)
	share("failures", &f.strategy.Failures)
	c.Beside("clock", nil) // each cluster has its own
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	f.first, f.newCatalog = *first, *changed
	goal, policy, err := f.flags.Question()
	if err != nil {
		return err
	}
	if !f.flags.Asked() {
		return &args.UsageError{Text: "name a goal: -to, -operator or -out"}
	}
	if err := f.strategy.Check(); err != nil {
		return &args.UsageError{Text: strings.NewReplacer("concurrency: ", "-at-once: ", "failures: ", "-failures: ", "soak: ", "-soak: ").Replace(err.Error())}
	}
	if err := f.read(c.Arg(0)); err != nil {
		return err
	}
	out, err := f.survey(goal, policy)
	if err != nil {
		return err
	}
	if *form == "json" {
		err = c.JSON(out)
	} else {
		err = text(c, out, f)
	}
	if err == nil && slices.ContainsFunc(out.Groups, func(s engine.Standing) bool { return !s.Goes() || s.Unseen > 0 }) {
		return args.ErrFindings
	}
	return err
}

// survey answers.
func (f *call) survey(goal *plan.Goal, policy *plan.Policy) (*survey, error) {
	f.Doing("planning")
	report, err := engine.Survey(f.Context, f.members, goal, policy)
	if err != nil {
		return nil, err
	}
	out := &survey{Report: report, Skipped: f.skipped}
	if f.after != nil {
		then, err := engine.Survey(f.Context, f.then, goal, policy)
		if err != nil {
			return nil, err
		}
		out.Changes = engine.Compare(report, then)
	}
	out.Groups = append(out.Groups, f.unread...)
	return out, f.turns(out)
}
