package situation

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/dump"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/solver/olm"
)

// DumpCommand prints the objects that a situation is read from.
const DumpCommand = "oc get clusterversions,clusteroperators,mcp,mc,nodes,pods,pdb,replicasets,statefulsets,subscriptions,csv,cm,apirequestcounts -A -o yaml"

// Situation is a cluster as it was dumped.
type Situation struct {
	plan.Situation
	Alerts     []cvo.Alert                 // of the cluster's monitoring; nil: not in the dump
	Graph      *graph.Graph                // of the update service; nil without one
	DaemonSets []fairlead.ObjectMeta       // see Listed
	Listed     bool                        // whether DaemonSets were dumped
	Installed  []olm.ClusterServiceVersion // the CSVs; nil: not in the dump
	Around     machines.Around             // objects related to machines

	subscriptions []olm.Subscription
	requests      []plan.APIRequestCount
	acks          map[string]string // of the administrator
}

// Complete turns the added objects into the input of a plan. Updates are those that the
// ClusterVersion lists; catalogs, by minor version of the cluster, contain the updates
// of the installed operators.
func (s *Situation) Complete(catalogs map[string]*catalog.Catalog) (err error) {
	if s.requests != nil {
		s.Removed = plan.ReadRemoved(s.requests)
	}
	s.members()
	if s.Cluster != nil {
		s.offered()
		s.risks()
	}
	if s.subscriptions != nil || s.Installed != nil {
		s.Operators, err = plan.ReadOperators(catalogs, s.subscriptions, s.Installed)
	}
	return err
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

// readAt reads the instant of a dump.
func readAt(at string) (when time.Time, err error) {
	if at == "" {
		return when, nil
	}
	if when, err = time.Parse(time.RFC3339, at); err != nil {
		return when, &args.UsageError{Text: "-at " + at + ": write it like 2026-01-02T15:04:05Z"}
	}
	return when, nil
}

// read reads objects in JSON or YAML, single ones and lists, from a file or all files
// of a directory.
func (s *Situation) read(c *args.Call, name string) error {
	add := dump.Once(s.Add)
	return dump.Files{
		Open: c.Open,
		Read: func(src io.Reader, file string) error { return dump.Read(src, file, add) },
		Alerts: func(file string) (err error) {
			s.Alerts, err = dump.AddAlerts(s.Alerts, file)
			return err
		},
	}.In(name)
}

// Add adds one object; irrelevant kinds are skipped. A list, without its items, means that
// its kind was dumped.
func (s *Situation) Add(o dump.Object) error {
	switch o.Kind {
	case "ClusterVersion":
		s.Cluster = new(cvo.ClusterVersion)
		return json.Unmarshal(o.JSON, s.Cluster)
	case "ClusterOperator":
		return dump.Append(o, &s.ClusterOperators)
	case "MachineConfigPool":
		return dump.Append(o, &s.Pools)
	case "MachineConfig", "MachineConfigList":
		if s.Configs == nil {
			s.Configs = map[string]string{}
		}
		if v := o.Meta.Annotations["machineconfiguration.openshift.io/release-image-version"]; v != "" {
			s.Configs[o.Meta.Name] = v
		}
	case "Node":
		return dump.Append(o, &s.Nodes)
	case "Machine":
		return s.machine(o)
	case "MachineList":
		s.Machines = looked(s.Machines)
	case "Pod":
		return dump.Append(o, &s.Pods)
	case "PodDisruptionBudget":
		return dump.Append(o, &s.Budgets)
	case "ReplicaSet", "StatefulSet", "ReplicationController":
		r, err := dump.Replicas(o)
		if err != nil {
			return err
		}
		s.Replicas = append(s.Replicas, r)
	case "ClusterOperatorList":
		s.ClusterOperators = looked(s.ClusterOperators)
	case "MachineConfigPoolList":
		s.Pools = looked(s.Pools)
	case "NodeList":
		s.Nodes = looked(s.Nodes)
	case "PodList":
		s.Pods = looked(s.Pods)
	case "PodDisruptionBudgetList":
		s.Budgets = looked(s.Budgets)
	case "DaemonSet":
		s.DaemonSets, s.Listed = append(s.DaemonSets, o.Meta), true
	case "DaemonSetList":
		s.Listed = true
	case "Subscription":
		return dump.Append(o, &s.subscriptions)
	case "SubscriptionList":
		s.subscriptions = looked(s.subscriptions)
	case "ClusterServiceVersion":
		return dump.Append(o, &s.Installed)
	case "APIRequestCount":
		return dump.Append(o, &s.requests)
	case "APIRequestCountList":
		s.requests = looked(s.requests)
	case "ConfigMap":
		return s.gates(o)
	}
	return s.Around.Add(o)
}

// machine adds a machine; of one without an apiVersion, only the fields that all APIs share.
func (s *Situation) machine(o dump.Object) error {
	m, err := lifecycle.ReadDocument(o.JSON)
	var field *fairlead.FieldError
	switch {
	case err == nil:
		s.Machines = append(s.Machines, m.Machine)
	case errors.As(err, &field) && field.Path == "kind":
		return dump.Append(o, &s.Machines)
	}
	return err
}

// looked returns a list that is not nil, though it may be empty.
func looked[T any](list []T) []T {
	if list == nil {
		list = []T{}
	}
	return list
}

// gates reads the two ConfigMaps of administrators' acknowledgements. Only the first one
// lists the gates.
func (s *Situation) gates(o dump.Object) error {
	var x struct {
		Data map[string]string `json:"data"`
	}
	if o.Meta.Name != "admin-gates" && o.Meta.Name != "admin-acks" {
		return nil
	}
	if err := json.Unmarshal(o.JSON, &x); err != nil {
		return err
	}
	switch o.Meta.Name {
	case "admin-gates":
		s.Gates = &cvo.AdminGates{Gates: x.Data, Acks: s.acks}
	case "admin-acks":
		if s.acks = x.Data; s.Gates != nil {
			s.Gates.Acks = x.Data
		}
	}
	return nil
}

// members adds the members of etcd from their pods.
func (s *Situation) members() {
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Namespace != "openshift-etcd" || p.Labels["app"] != "etcd" {
			continue
		}
		m := plan.Member{Name: p.Name, Node: p.Spec.NodeName, Healthy: fairlead.ConditionFalse}
		if p.Ready() {
			m.Healthy = fairlead.ConditionTrue
		}
		s.Members = append(s.Members, m)
	}
}

// none marks kinds as known to have no objects.
func (s *Situation) none(kinds []string) error {
	for _, k := range kinds {
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

// offered adds the updates that the ClusterVersion lists.
func (s *Situation) offered() {
	status := &s.Cluster.Status
	if status.AvailableUpdates == nil && status.ConditionalUpdates == nil {
		return
	}
	s.Moves = []plan.Move{}
	for _, r := range status.AvailableUpdates {
		s.Moves = append(s.Moves, plan.Move{From: status.Desired.Version, To: r.Version})
	}
	for _, u := range status.ConditionalUpdates {
		m := plan.Move{From: status.Desired.Version, To: u.Release.Version}
		for _, r := range u.Risks {
			m.Risks = append(m.Risks, r.Name)
		}
		s.Moves = append(s.Moves, m)
	}
}

// UseGraph uses the updates of an update graph instead of those that the
// ClusterVersion lists. Cluster must be known.
func (s *Situation) UseGraph(g *graph.Graph) (err error) {
	s.Graph = g
	if s.Moves, s.Risks, err = plan.FromGraph(g, s.Cluster.Status.Desired.Version, nil, graph.Evaluations{}); err == nil {
		s.risks()
	}
	return err
}

// risks adds what the ClusterVersion reports about risks: by name, or for an update as a
// whole if it has one risk, or none that applies.
func (s *Situation) risks() {
	known := map[string]fairlead.ConditionStatus{}
	for _, u := range s.Cluster.Status.ConditionalUpdates {
		c := fairlead.FindCondition(u.Conditions, "Recommended")
		if c == nil {
			continue
		}
		for _, r := range u.Risks {
			switch {
			case c.Status == fairlead.ConditionTrue:
				known[r.Name] = fairlead.ConditionFalse
			case c.Status == fairlead.ConditionFalse && len(u.Risks) == 1:
				known[r.Name] = fairlead.ConditionTrue
			}
			s.message(r.Name, r.Message)
		}
	}
	for _, r := range s.Cluster.Status.ConditionalUpdateRisks {
		if c := fairlead.FindCondition(r.Conditions, "Applies"); c != nil {
			known[r.Name] = c.Status
		}
	}
	for i := range s.Risks {
		if is, ok := known[s.Risks[i].Name]; ok {
			s.Risks[i].Applies = is
		}
	}
}

// message makes sure that a risk is listed.
func (s *Situation) message(name, text string) {
	for i := range s.Risks {
		if s.Risks[i].Name == name {
			return
		}
	}
	s.Risks = append(s.Risks, plan.Risk{Name: name, Message: text, Applies: fairlead.ConditionUnknown})
}
