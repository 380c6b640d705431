// Package situation reads the state of a whole cluster from the output of kubectl get, and
// the flags of a question about it, for the verbs that answer for a whole cluster.
package situation

import (
	"fmt"
	"os"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/reading"
)

// Usage and Help describe the flags that Declare declares.
const (
	Usage = "[-to V] [-pause-workers] [-operator PACKAGE=VERSION]... [-out NODE]... [-graph FILE] [-catalog [MINOR=]PATH]... [-none KIND]... [-accept RISK]... [-keep THING]... [-least-disruption] [-direct] [-at TIME]"
	Help  = `  -to V                  a release (4.20.3), a minor version (4.20: its newest release), or newest
  -pause-workers         restart pools other than the control plane only once, at the end
  -operator P=V          also update an installed operator to a version
  -out NODE              also take a node out of service
  -graph FILE            the update graph, as the update service returns it; default: the updates in the
                         ClusterVersion, which reach one hop
  -catalog [MINOR=]PATH  the catalog that installed operators are updated from while the cluster
                         is at that minor version
  -none KIND             the cluster has none of: gates, pods, budgets, operators, members, apis
                         (removed APIs in use)
  -accept RISK           accept this risk
  -keep THING            do not change: budgets, nodes, members, data, or the package of an operator
  -least-disruption      prefer fewer node restarts to fewer steps
  -direct                take the direct way, even if another leaves fewer risks unevaluated
  -at TIME               when the dump was made, such as 2026-01-02T15:04:05Z`
)

// Flags are the flags of a question about a situation.
type Flags struct {
	to, graph                                    *string
	pause, least, direct                         *bool
	operators, out, none, accept, keep, catalogs *[]string
	source                                       *reading.Source
}

// Declare declares the flags of a call.
func Declare(c *args.Call) *Flags {
	return &Flags{
		to: c.Flags.String("to", "", ""), graph: c.Flags.String("graph", "", ""),
		pause: c.Flags.Bool("pause-workers", false, ""), least: c.Flags.Bool("least-disruption", false, ""), direct: c.Flags.Bool("direct", false, ""),
		operators: c.Words("operator"), out: c.Words("out"), none: c.Words("none"),
		accept: c.Words("accept"), keep: c.Words("keep"), catalogs: c.Words("catalog"), source: reading.Declare(c),
	}
}

// Asked reports whether the flags contain a goal.
func (f *Flags) Asked() bool { return *f.to != "" || len(*f.operators)+len(*f.out) > 0 }

// Catalog returns the path of the catalog for a cluster at a release; "" for none.
func (f *Flags) Catalog(release string) (path string) {
	for _, named := range *f.catalogs {
		switch minor, at, ok := strings.Cut(named, "="); {
		case !ok:
			path = named
		case strings.HasPrefix(release, minor+"."):
			return at
		}
	}
	return path
}

// Informative says that the command reports what there is: what cannot be read is a warning,
// not a finding.
func (f *Flags) Informative() { f.source.Informative = true }

// CheckRelease refuses a value of -to that is neither a release nor a minor version.
func CheckRelease(text string) error {
	if text == "" || text[0] >= '0' && text[0] <= '9' && strings.Contains(text, ".") {
		return nil
	}
	return &args.UsageError{Text: fmt.Sprintf("-to %s: that is not a release, such as 4.18.22, nor a minor version, such as 4.18", text)}
}

// Question returns the goal that the flags set, and the policy for reaching it.
func (f *Flags) Question() (*plan.Goal, *plan.Policy, error) {
	goal := &plan.Goal{PauseWorkers: *f.pause, Nodes: *f.out}
	if err := CheckRelease(*f.to); err != nil && *f.to != "newest" {
		return nil, nil, err
	}
	switch {
	case *f.to == "newest":
		goal.Newest = true
	case strings.Count(*f.to, ".") == 1:
		goal.Minor = *f.to
	default:
		goal.Release = *f.to
	}
	for _, o := range *f.operators {
		name, version, ok := strings.Cut(o, "=")
		if !ok {
			return nil, nil, &args.UsageError{Text: "-operator " + o + ": write PACKAGE=VERSION"}
		}
		goal.Operators = append(goal.Operators, plan.OperatorGoal{Package: name, Version: version})
	}
	policy := &plan.Policy{Accept: *f.accept, Direct: *f.direct}
	if *f.least {
		policy.Prefer = plan.LeastDisruption
	}
	for _, k := range *f.keep {
		switch k {
		case "budgets":
			policy.KeepBudgets = true
		case "nodes":
			policy.KeepNodes = true
		case "members":
			policy.KeepMembers = true
		case "data":
			policy.Drain.KeepLocalStorage, policy.Drain.KeepUnmanaged = true, true
		default:
			policy.KeepOperators = append(policy.KeepOperators, k)
		}
	}
	return goal, policy, nil
}

// Read reads a situation from whatever [reading.Source.Read] understands.
func (f *Flags) Read(c *args.Call, name string) (*Situation, error) {
	s, err := f.source.Read(name)
	if err != nil {
		return nil, err
	}
	return f.Complete(c, s)
}

// Complete returns the situation that a snapshot shows, with what the flags say: catalogs, kinds
// that the cluster has none of, and the update graph.
func (f *Flags) Complete(c *args.Call, from *snapshot.Snapshot) (*Situation, error) {
	catalogs, shut, err := OpenCatalogs(c.Context, *f.catalogs)
	defer shut()
	if err != nil {
		return nil, err
	}
	s, err := f.With(c, from, catalogs)
	if err == nil {
		f.unused(c, s)
	}
	return s, err
}

// With is Complete with catalogs that are open, for a call that reads several clusters.
func (f *Flags) With(c *args.Call, from *snapshot.Snapshot, catalogs map[string]*catalog.Catalog) (*Situation, error) {
	s, err := Of(from, catalogs)
	if err == nil {
		err = s.none(*f.none)
	}
	if err == nil && (s.Cluster != nil || c.Given("graph")) { // a graph that is set for all clusters may not apply to this one
		err = s.readGraph(*f.graph)
	}
	return s, err
}

// Snapshot reads a cluster as Read does, without what the flags say about it.
func (f *Flags) Snapshot(name string) (*snapshot.Snapshot, error) { return f.source.Read(name) }

// Without is that of [reading.Source].
func (f *Flags) Without(name, lack, advice string) error { return f.source.Without(name, lack, advice) }

// Catalogs are the values of -catalog.
func (f *Flags) Catalogs() []string { return *f.catalogs }

// unused prints notes about values of -accept and -keep that the situation does not contain.
func (f *Flags) unused(c *args.Call, s *Situation) {
	var risks []string
	for _, r := range s.Risks {
		risks = append(risks, r.Name)
	}
	c.Unused("accept", *f.accept, risks)
	things := []string{"budgets", "nodes", "members", "data"}
	for i := range s.Operators {
		things = append(things, s.Operators[i].Package)
	}
	c.Unused("keep", *f.keep, things)
}

// readGraph reads the update graph of a file, if one is named.
func (s *Situation) readGraph(file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	g, found := graph.Parse(text, &graph.Options{File: file})
	if g == nil {
		return found.Err()
	}
	if s.Cluster == nil {
		return fmt.Errorf("-graph %s: there is no ClusterVersion, which would show where in the graph the cluster is; print one with: %s", file, DumpCommand)
	}
	return s.UseGraph(g)
}
