// Package fleet is the verb fleet: which clusters can be updated, what prevents the others,
// and whose turn it is.
package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
that of the cluster. Clusters with the same result are listed together.
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

// read reads the clusters of a directory. One that cannot be read is listed as such.
func (f *call) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	before, shut, err := situation.OpenCatalogs(f.Context, f.flags.Catalogs())
	defer shut()
	if err != nil {
		return err
	}
	f.before = before
	if len(f.newCatalog) > 0 {
		after, shut, err := situation.OpenCatalogs(f.Context, f.newCatalog)
		defer shut()
		if err != nil {
			return err
		}
		f.after = after
	}
	names := map[string]string{} // files by cluster
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := f.Context.Err(); err != nil {
			return err
		}
		name := clusterName(e)
		if other, there := names[name]; there {
			return fmt.Errorf("%s: %s and %s are both called %s: rename one of them", dir, other, e.Name(), name)
		}
		names[name] = e.Name()
		if err := f.cluster(name, filepath.Join(dir, e.Name())); err != nil {
			f.unread = append(f.unread, engine.Standing{Error: strings.TrimPrefix(err.Error(), dir+string(filepath.Separator)), Clusters: []string{name}})
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: it contains no dumps: put one of each cluster into it, made with: %s > NAME.yaml", dir, situation.DumpCommand)
	}
	for _, name := range f.first {
		if _, there := names[name]; !there {
			return &args.UsageError{Text: "-first " + name + ": " + dir + " has no dump of that name"}
		}
	}
	return nil
}

// clusterName returns the name of a cluster by its dump.
func clusterName(e os.DirEntry) string {
	name := e.Name()
	if e.IsDir() {
		return name
	}
	for _, end := range []string{".tar.gz", ".tgz", ".tar", ".yaml", ".yml", ".json"} {
		if short, ok := strings.CutSuffix(name, end); ok && short != "" {
			return short
		}
	}
	return name
}

// cluster reads one cluster.
func (f *call) cluster(name, file string) error {
	from, err := f.flags.Snapshot(file)
	if err != nil {
		return err
	}
	s, err := f.flags.With(f.Call, from, f.before)
	if err != nil {
		return err
	}
	if s.Cluster == nil {
		return errors.New("its dump contains no ClusterVersion")
	}
	if s.At.After(f.at) {
		f.at = s.At
	}
	f.members = append(f.members, engine.Member{Name: name, Situation: &s.Situation})
	if f.after != nil {
		if s, err = f.flags.With(f.Call, from, f.after); err != nil {
			return err
		}
		f.then = append(f.then, engine.Member{Name: name, Situation: &s.Situation})
	}
	return nil
}

// survey answers.
func (f *call) survey(goal *plan.Goal, policy *plan.Policy) (*survey, error) {
	f.Doing("planning")
	report, err := engine.Survey(f.Context, f.members, goal, policy)
	if err != nil {
		return nil, err
	}
	out := &survey{Report: report}
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

// turns says whose turn it is: of the clusters that can be updated or are under way.
func (f *call) turns(out *survey) error {
	w := &engine.World{}
	first, others := engine.Group{Name: "first"}, engine.Group{Name: "others"}
	var asked []string
	for _, g := range out.Groups {
		for _, name := range g.Clusters {
			i := slices.IndexFunc(f.members, func(m engine.Member) bool { return m.Name == name })
			c := engine.Cluster{Name: name, Status: engine.ToApply}
			if i >= 0 {
				c = progress(name, f.members[i].Situation, &g)
			}
			// One of the first that cannot be updated holds up all others.
			early := slices.Contains(f.first, name)
			if !early && !g.Goes() && c.Status == engine.ToApply {
				continue
			}
			if c.Status != engine.ToApply { // one that is not listed has not started
				w.Clusters = append(w.Clusters, c)
			}
			if c.Status == engine.Progressing || c.Status == engine.Failed {
				out.Under = append(out.Under, c)
			}
			into := &others
			if early {
				into = &first
			}
			into.Clusters = append(into.Clusters, name)
			if g.Goes() && c.Status == engine.ToApply {
				asked = append(asked, name)
			}
		}
	}
	w.Groups = []engine.Group{first, others}
	if len(first.Clusters) > 0 {
		f.strategy.First = []string{"first"}
	} else {
		w.Groups = w.Groups[1:]
	}
	due, err := engine.Choose(w, &f.strategy, f.at)
	if err != nil {
		return err
	}
	blocked := func(name string) bool {
		return slices.ContainsFunc(out.Groups, func(g engine.Standing) bool { return !g.Goes() && slices.Contains(g.Clusters, name) })
	}
	due.Go = slices.DeleteFunc(due.Go, func(t engine.Turn) bool {
		is := t.Status == engine.ToApply && blocked(t.Cluster)
		if is {
			out.Waiting = append(out.Waiting, waiting{t.Cluster, t.Cluster + " is due, but cannot be updated, and holds up those that come after it"})
		}
		return is
	})
	out.Due = due
	slices.Sort(asked)
	for _, name := range asked {
		if slices.ContainsFunc(due.Go, func(t engine.Turn) bool { return t.Cluster == name }) {
			continue
		}
		why, err := engine.Why(w, &f.strategy, f.at, name)
		if err != nil {
			return err
		}
		out.Waiting = append(out.Waiting, waiting{name, why})
	}
	return nil
}

// progress says how far a cluster is: by its ClusterVersion and the plan that is left.
func progress(name string, s *plan.Situation, g *engine.Standing) engine.Cluster {
	c := engine.Cluster{Name: name, Status: engine.ToApply}
	history := s.Cluster.Status.History
	condition := func(kind string) *fairlead.Condition {
		for i := range s.Cluster.Status.Conditions {
			if x := &s.Cluster.Status.Conditions[i]; x.Type == kind && x.Status == fairlead.ConditionTrue {
				return x
			}
		}
		return nil
	}
	switch progressing := condition("Progressing"); {
	case g.Goes() && g.Steps == 0 && g.Unseen == 0:
		c.Status = engine.Succeeded
		if len(history) > 0 && history[0].CompletionTime != nil {
			c.Since = *history[0].CompletionTime
		}
	case progressing != nil:
		c.Status, c.Since = engine.Progressing, progressing.LastTransitionTime
		if len(history) > 0 && !history[0].StartedTime.IsZero() {
			c.Since = history[0].StartedTime
		}
		if failing := condition("Failing"); failing != nil {
			c.Status, c.Since = engine.Failed, failing.LastTransitionTime
		}
	}
	return c
}
