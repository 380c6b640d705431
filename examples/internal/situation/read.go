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
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/resource"
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
	conditions    []gate.OperatorCondition
	installPlans  []resource.InstallPlan
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
		s.Moves, s.Risks = plan.ReadUpdates(s.Cluster)
		s.Channels = plan.ReadChannels(s.Cluster)
	}
	if s.subscriptions != nil || s.Installed != nil {
		s.Operators, err = plan.ReadOperators(catalogs, &plan.Installed{Subscriptions: s.subscriptions, CSVs: s.Installed, Conditions: s.conditions, InstallPlans: s.installPlans})
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
	case "DaemonSet":
		s.DaemonSets, s.Listed = append(s.DaemonSets, o.Meta), true
	case "DaemonSetList":
		s.Listed = true
	case "Subscription":
		return dump.Append(o, &s.subscriptions)
	case "OperatorCondition":
		return dump.Append(o, &s.conditions)
	case "InstallPlan":
		return dump.Append(o, &s.installPlans)
	case "Infrastructure":
		return s.infrastructure(o)
	case "MachineHealthCheck":
		if _, paused := o.Meta.Annotations["cluster.x-k8s.io/paused"]; !paused {
			s.HealthChecks = append(s.HealthChecks, o.Meta.Namespace+"/"+o.Meta.Name)
		}
		return s.Around.Add(o)
	case "ClusterServiceVersion":
		return dump.Append(o, &s.Installed)
	case "APIRequestCount":
		return dump.Append(o, &s.requests)
	case "ConfigMap":
		return s.gates(o)
	default:
		s.lists(o.Kind)
		return s.Around.Add(o)
	}
	return nil
}

// lists notes that a kind was dumped, though there may be none of it.
func (s *Situation) lists(kind string) {
	switch kind {
	case "MachineList":
		s.Machines = looked(s.Machines)
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
	case "SubscriptionList":
		s.subscriptions = looked(s.subscriptions)
	case "APIRequestCountList":
		s.requests = looked(s.requests)
	}
}

// infrastructure notes where the control plane runs.
func (s *Situation) infrastructure(o dump.Object) error {
	var x struct {
		Status struct {
			ControlPlaneTopology string `json:"controlPlaneTopology"`
		} `json:"status"`
	}
	err := json.Unmarshal(o.JSON, &x)
	s.Topology = x.Status.ControlPlaneTopology
	return err
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

// UseGraph uses the updates of an update graph instead of those that the
// ClusterVersion lists. Cluster must be known.
func (s *Situation) UseGraph(g *graph.Graph) (err error) {
	s.Graph = g
	if s.Moves, s.Risks, err = plan.FromGraph(g, s.Cluster.Status.Desired.Version, nil, graph.Evaluations{}); err != nil {
		return err
	}
	for _, known := range plan.ReadRisks(s.Cluster) {
		for i := range s.Risks {
			if s.Risks[i].Name == known.Name && known.Applies != fairlead.ConditionUnknown {
				s.Risks[i].Applies = known.Applies
			}
		}
	}
	if s.Channels == nil {
		s.Channels = map[string][]string{}
	}
	for _, r := range g.Releases() {
		if c := r.Channels(); len(c) > 0 {
			s.Channels[r.Version] = c
		}
	}
	return nil
}
