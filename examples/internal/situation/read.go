package situation

import (
	"context"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/solver/olm"
)

// DumpCommand prints the objects that a situation is read from.
const DumpCommand = "oc get clusterversions,clusteroperators,mcp,mc,nodes,pods,pdb,replicasets,statefulsets,subscriptions,csv,installplans,operatorconditions,machinehealthchecks,infrastructures,cm,apirequestcounts -A -o yaml"

// Situation is a view of a snapshot for the verbs that answer for a whole cluster.
type Situation struct {
	plan.Situation
	Snapshot   *snapshot.Snapshot
	Alerts     []cvo.Alert                 // of the cluster's monitoring; nil: not in the dump
	Graph      *graph.Graph                // of the update service; nil without one
	DaemonSets []fairlead.ObjectMeta       // see Listed
	Listed     bool                        // whether DaemonSets were dumped
	Installed  []olm.ClusterServiceVersion // the CSVs; nil: not in the dump
	Around     machines.Around             // objects related to machines
}

// Of returns the situation that a snapshot shows. Catalogs, by minor version of the cluster,
// contain the updates of the installed operators. The error says what cannot be read in them.
func Of(s *snapshot.Snapshot, catalogs map[string]*catalog.Catalog) (*Situation, error) {
	out := &Situation{
		Situation: *plan.FromSnapshot(s), Snapshot: s, Alerts: s.Alerts.Known(), DaemonSets: snapshot.Metas(s.DaemonSets.Items),
		Listed: s.DaemonSets.Known() != nil, Installed: s.CSVs.Known(), Around: machines.AroundOf(s),
	}
	subscriptions, err := s.Subscriptions.Known(), error(nil)
	if subscriptions != nil || out.Installed != nil {
		out.Operators, err = plan.ReadOperators(catalogs, &plan.Installed{
			Subscriptions: subscriptions, CSVs: out.Installed, Conditions: s.OperatorConditions.Known(), InstallPlans: s.InstallPlans.Known(),
		})
	}
	return out, err
}

// OpenCatalogs opens catalogs that are named [MINOR=]PATH. They can be used until shut is
// called, which is never nil.
func OpenCatalogs(ctx context.Context, named []string) (catalogs map[string]*catalog.Catalog, shut func(), err error) {
	catalogs = map[string]*catalog.Catalog{}
	var sources []*source.Source
	shut = func() {
		for _, s := range sources {
			s.Close()
		}
	}
	for _, n := range named {
		minor, path, ok := strings.Cut(n, "=")
		if !ok {
			minor, path = "", n
		}
		src, err := source.Open(ctx, path, nil)
		if err != nil {
			return nil, shut, err
		}
		sources = append(sources, src)
		if catalogs[minor], err = catalog.Open(ctx, src, nil); err != nil {
			return nil, shut, err
		}
	}
	return catalogs, shut, nil
}

// noneOf are the kinds of which -none says that there are none.
var noneOf = map[string][]string{
	"pods": {"Pod"}, "budgets": {"PodDisruptionBudget"}, "operators": {"Subscription", "ClusterServiceVersion"}, "apis": {"APIRequestCount"},
}

// none marks kinds as known to have no objects.
func (s *Situation) none(kinds []string) error {
	for _, k := range kinds {
		for _, kind := range noneOf[k] {
			delete(s.Partly, kind)
		}
		switch k {
		case "gates":
			s.Gates = &cvo.AdminGates{}
		case "pods":
			s.Pods = []fairlead.Pod{}
		case "budgets":
			s.Budgets = []fairlead.PodDisruptionBudget{}
		case "operators":
			s.Operators = []plan.Operator{}
		case "members":
			s.Members = []plan.Member{}
		case "apis":
			s.Removed = []plan.RemovedAPI{}
		default:
			return &args.UsageError{Text: "-none " + k + ": choose one of gates, pods, budgets, operators, members, apis"}
		}
	}
	return nil
}

// UseGraph uses the updates of an update graph instead of those that the ClusterVersion
// lists. Cluster must be known.
func (s *Situation) UseGraph(g *graph.Graph) error {
	s.Graph = g
	return s.Situation.UseGraph(g)
}
