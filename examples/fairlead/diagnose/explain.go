package diagnose

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// Kind is a kind of objects that the verb explain knows beside those of this package.
type Kind struct {
	Names []string // as on the command line, the first one for help
	// Explain writes what is known about an object; the error is args.ErrFindings if something
	// is wrong or not known.
	Explain func(c *args.Call, s *snapshot.Snapshot, namespace, name string) error
}

// kind is a kind of the graph.
type kind struct {
	names []string // the first one for people
	kind  string
	has   func(s *snapshot.Snapshot, namespace, name string) snapshot.Presence
}

// presence returns whether a list has an object.
func presence[T any](list func(*snapshot.Snapshot) *snapshot.List[T]) func(*snapshot.Snapshot, string, string) snapshot.Presence {
	return func(s *snapshot.Snapshot, namespace, name string) snapshot.Presence {
		l := list(s)
		if namespace == "" && slices.ContainsFunc(l.Refs, func(r snapshot.Ref) bool { return r.Name == name }) {
			return snapshot.Present
		}
		_, is := l.Get(namespace, name)
		return is
	}
}

// kinds are those of the graph.
func kinds() []kind {
	return []kind{
		{[]string{"node", "no", "nodes"}, "Node", presence(func(s *snapshot.Snapshot) *snapshot.List[fairlead.Node] { return &s.Nodes })},
		{[]string{"pod", "po", "pods"}, "Pod", presence(func(s *snapshot.Snapshot) *snapshot.List[fairlead.Pod] { return &s.Pods })},
		{[]string{"pdb", "poddisruptionbudget", "poddisruptionbudgets"}, "PodDisruptionBudget", presence(func(s *snapshot.Snapshot) *snapshot.List[fairlead.PodDisruptionBudget] { return &s.Budgets })},
		{[]string{"machine", "machines"}, "Machine", presence(func(s *snapshot.Snapshot) *snapshot.List[lifecycle.Machine] { return &s.Machines })},
		{[]string{"clusteroperator", "co", "clusteroperators"}, "ClusterOperator", presence(func(s *snapshot.Snapshot) *snapshot.List[cvo.ClusterOperator] { return &s.ClusterOperators })},
		{[]string{"pool", "mcp", "machineconfigpool"}, "MachineConfigPool", presence(func(s *snapshot.Snapshot) *snapshot.List[cvo.Pool] { return &s.Pools })},
		{[]string{"namespace", "ns", "namespaces", "project"}, "Namespace", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Object] { return &s.Namespaces })},
		{[]string{"pvc", "persistentvolumeclaim", "persistentvolumeclaims"}, "PersistentVolumeClaim", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Claim] { return &s.Claims })},
		{[]string{"apiservice", "apiservices"}, "APIService", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.APIService] { return &s.APIServices })},
		{[]string{"crd", "customresourcedefinition", "customresourcedefinitions"}, "CustomResourceDefinition", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.CRD] { return &s.CRDs })},
		{[]string{"machinehealthcheck", "mhc", "machinehealthchecks"}, "MachineHealthCheck", presence(func(s *snapshot.Snapshot) *snapshot.List[fleet.HealthCheck] { return &s.HealthChecks })},
		{[]string{"replicaset", "rs", "replicasets"}, "ReplicaSet", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Workload] { return &s.ReplicaSets })},
		{[]string{"volumeattachment", "volumeattachments"}, "VolumeAttachment", presence(func(s *snapshot.Snapshot) *snapshot.List[lifecycle.VolumeAttachment] { return &s.Attachments })},
		{[]string{"deployment", "deploy", "deployments"}, "Deployment", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Workload] { return &s.Deployments })},
		{[]string{"statefulset", "sts", "statefulsets"}, "StatefulSet", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Workload] { return &s.StatefulSets })},
		{[]string{"daemonset", "ds", "daemonsets"}, "DaemonSet", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Workload] { return &s.DaemonSets })},
		{[]string{"job", "jobs"}, "Job", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Job] { return &s.Jobs })},
		{[]string{"cronjob", "cj", "cronjobs"}, "CronJob", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.CronJob] { return &s.CronJobs })},
		{[]string{"hpa", "horizontalpodautoscaler", "horizontalpodautoscalers"}, "HorizontalPodAutoscaler", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Autoscaler] { return &s.Autoscalers })},
		{[]string{"service", "svc", "services"}, "Service", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Service] { return &s.Services })},
		{[]string{"ingress", "ing", "ingresses"}, "Ingress", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Ingress] { return &s.Ingresses })},
		{[]string{"route", "routes"}, "Route", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Route] { return &s.Routes })},
		{[]string{"lease", "leases"}, "Lease", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.Lease] { return &s.Leases })},
		{[]string{"validatingwebhookconfiguration", "validatingwebhookconfigurations"}, "ValidatingWebhookConfiguration", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.WebhookConfiguration] { return &s.ValidatingWebhooks })},
		{[]string{"mutatingwebhookconfiguration", "mutatingwebhookconfigurations"}, "MutatingWebhookConfiguration", presence(func(s *snapshot.Snapshot) *snapshot.List[snapshot.WebhookConfiguration] { return &s.MutatingWebhooks })},
		{[]string{"update"}, "Update", func(s *snapshot.Snapshot, _, _ string) snapshot.Presence {
			if s.Version() == nil {
				return snapshot.Unknown
			}
			return snapshot.Present
		}},
	}
}

// Explain is the verb explain. Others add kinds of their own.
func Explain(others ...Kind) *args.Command {
	names := []string{}
	for _, k := range kinds() {
		names = append(names, k.names[0])
	}
	names = append(names, olmKinds()...)
	for _, k := range others {
		names = append(names, k.Names[0])
	}
	return &args.Command{
		Name:  "explain",
		Usage: "[DUMP] KIND/NAME [-n NAMESPACE] [-at TIME] [-o text|json|yaml]",
		About: "say what one object waits for, up to the cause, and what waits for it",
		Help: `KIND is one of ` + strings.Join(names, ", ") + `
  -n NAMESPACE       where it is; not needed if only one namespace has the name
  -at TIME           when the cluster was looked at (default: the latest time that a server wrote into the dump)
  -o json            the part of the graph that leads to and from it
exit status: 0 it waits for nothing that is wrong, 1 it does, or that is not known, 2 bad input`,
		Examples: `fairlead explain must-gather.local.1 node/worker-0
			fairlead explain all.yaml pdb/web -n shop`,
		Run:      func(c *args.Call) error { return explained(c, others) },
		Complete: inDump,
	}
}

func explained(c *args.Call, others []Kind) error {
	form := c.Choice("o", "text", "json")
	namespace := c.Flags.String("n", "", "")
	from := reading.Declare(c)
	from.Informative, from.Definitions = true, true
	if err := c.Parse(1, 2); err != nil {
		return err
	}
	dump, object := c.Arg(0), c.Arg(1)
	if object == "" || names(dump, others) && !names(object, others) { // the other way round, as kubectl has it
		dump, object = object, dump
	}
	what, name, ok := strings.Cut(object, "/")
	if !ok || name == "" {
		return &args.UsageError{Text: object + ": write KIND/NAME, as in node/worker-0"}
	}
	s, err := from.Read(dump)
	if err != nil {
		return err
	}
	what = strings.ToLower(what)
	for _, k := range others {
		if slices.Contains(k.Names, what) {
			return k.Explain(c, s, *namespace, name)
		}
	}
	all := kinds()
	if v, known := diagnosing.Operators(s).View(what, strings.TrimPrefix(*namespace+"/"+name, "/")); known {
		if in := diagnosing.Operators(s).Within(what, name); v == nil && *namespace == "" && len(in) > 1 {
			return &args.UsageError{Text: fmt.Sprintf("%s is in the namespaces %s: name one with -n", object, words.List(in, "and", 5))}
		}
		return operator(c, s, v, object, *form)
	}
	i := slices.IndexFunc(all, func(k kind) bool { return slices.Contains(k.names, what) })
	if i < 0 {
		return &args.UsageError{Text: what + ": it is not a kind that can be explained"}
	}
	return about(c, diagnosing.About(s, s.Clock.At, diagnosis.Options{Of: asked(s, &all[i], *namespace, name)}), s, &all[i], *namespace, name, *form)
}

// asked returns the IDs of CronJobs, which may well be suspended: that is wrong only for whoever asks
// why one does not start. Of other kinds, what they wait for shows in the graph of all.
func asked(s *snapshot.Snapshot, k *kind, namespace, name string) (ids []string) {
	for _, r := range s.CronJobs.Refs {
		if k.kind == r.Kind && r.Name == name && (namespace == "" || r.Namespace == namespace) {
			ids = append(ids, diagnosis.ID(r.Kind, r.Namespace, r.Name))
		}
	}
	return ids
}

// inDump returns what can be explained of a dump, for shell completion.
func inDump(c *args.Call) (found []string) {
	all := kinds()
	of := func(ref *snapshot.Ref) int {
		return slices.IndexFunc(all, func(k kind) bool { return k.kind == ref.Kind })
	}
	for _, ref := range reading.Named(c, func(ref *snapshot.Ref) bool { return of(ref) >= 0 }) {
		found = append(found, all[of(&ref)].names[0]+"/"+ref.Name)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// names reports whether an argument is KIND/NAME, with a kind that can be explained.
func names(argument string, others []Kind) bool {
	what, name, ok := strings.Cut(strings.ToLower(argument), "/")
	return ok && name != "" && (slices.Contains(olmKinds(), what) ||
		slices.ContainsFunc(kinds(), func(k kind) bool { return slices.Contains(k.names, what) }) ||
		slices.ContainsFunc(others, func(k Kind) bool { return slices.Contains(k.Names, what) }))
}

// about explains an object of the graph.
func about(c *args.Call, d *diagnosis.Diagnosis, s *snapshot.Snapshot, k *kind, namespace, name, form string) error {
	facts := find(d, k.kind, namespace, name)
	if len(facts) == 0 {
		return quiet(c, d, s, k, namespace, name, form)
	}
	part := around(d, facts)
	stuck := slices.ContainsFunc(facts, func(id string) bool { return slices.Contains(diagnosis.Stuck(d.Causes), id) })
	if form == "json" {
		if len(d.Unknown) > 0 {
			c.Beside("unknown", d.Unknown)
		}
		if err := c.JSON(part); err != nil {
			return err
		}
	} else {
		b := page.NewBuffer(c.Stdout)
		for _, id := range facts {
			describe(b, d, id)
		}
		if len(d.Unknown) > 0 && !stuck {
			words.Fprintf(b, "Not known: %s\n", words.First(whats(d), 3))
		}
		if _, err := c.Stdout.Write(b.Bytes()); err != nil {
			return err
		}
	}
	if stuck || len(d.Unknown) > 0 { // that it goes on rests on what is not known
		return args.ErrFindings
	}
	return nil
}

// find returns the nodes of the graph that are about an object. Without a namespace, any will
// do. The update needs no name.
func find(d *diagnosis.Diagnosis, kind, namespace, name string) (ids []string) {
	for i := range d.Graph.Nodes {
		n := &d.Graph.Nodes[i]
		if n.Kind == kind && (n.Name == name || kind == "Update") && (namespace == "" || n.Namespace == namespace) {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// quiet says that the graph has nothing about an object.
func quiet(c *args.Call, d *diagnosis.Diagnosis, s *snapshot.Snapshot, k *kind, namespace, name, form string) error {
	full := strings.TrimPrefix(namespace+"/"+name, "/")
	has := k.has(s, namespace, name)
	if form == "json" && has != snapshot.Absent {
		return empty(c, d, has)
	}
	switch has {
	case snapshot.Present:
		if len(d.Unknown) > 0 {
			words.Fprintf(c.Stdout, "%s %s: nothing that is known is wrong with it.\nNot known: %s\n", k.names[0], full, words.First(whats(d), 3))
			return args.ErrFindings
		}
		_, err := words.Fprintf(c.Stdout, "%s %s: nothing is wrong with it, and it waits for nothing.\n", k.names[0], full)
		return err
	case snapshot.Absent:
		return fmt.Errorf("%s %s is not in the dump, which has all of its kind: check the name", k.names[0], full)
	}
	words.Fprintf(c.Stdout, "%s %s: it is not in the dump, which does not say that it does not exist.\n", k.names[0], full)
	if len(d.Unknown) > 0 {
		words.Fprintf(c.Stdout, "Not known: %s\n", words.First(whats(d), 3))
	}
	return args.ErrFindings
}

// empty prints the graph of an object about which it has nothing. That the dump does not have it, either, is
// not known to be good.
func empty(c *args.Call, d *diagnosis.Diagnosis, has snapshot.Presence) error {
	unknown := slices.Clone(d.Unknown)
	if has != snapshot.Present {
		unknown = append(unknown, cvo.Gap{What: "whether it exists"})
	}
	if len(unknown) > 0 {
		c.Beside("unknown", unknown)
	}
	err := c.JSON(&diagnosis.Graph{Nodes: []diagnosis.Node{}, Edges: []diagnosis.Edge{}})
	if err == nil && len(unknown) > 0 {
		return args.ErrFindings
	}
	return err
}

func whats(d *diagnosis.Diagnosis) (all []string) {
	for _, g := range d.Unknown {
		all = append(all, g.What)
	}
	return all
}

// around returns the part of the graph that leads to and from nodes.
func around(d *diagnosis.Diagnosis, ids []string) *diagnosis.Graph {
	keep := map[string]bool{}
	var walk func(id string, down bool)
	walk = func(id string, down bool) {
		key := fmt.Sprint(id, down)
		if keep[key] {
			return
		}
		keep[key], keep[id] = true, true
		edges := d.Graph.From(id)
		if !down {
			edges = d.Graph.To(id)
		}
		for _, e := range edges {
			if down {
				walk(e.To, true)
			} else {
				walk(e.From, false)
			}
		}
	}
	for _, id := range ids {
		walk(id, true)
		walk(id, false)
	}
	g := &diagnosis.Graph{Nodes: []diagnosis.Node{}, Edges: []diagnosis.Edge{}}
	for _, n := range d.Graph.Nodes {
		if keep[n.ID] {
			g.Nodes = append(g.Nodes, n)
		}
	}
	for _, e := range d.Graph.Edges {
		if keep[e.From] && keep[e.To] {
			g.Edges = append(g.Edges, e)
		}
	}
	return g
}

// describe writes what a node waits for, as a tree, what waits for it, and the steps that help.
func describe(w io.Writer, d *diagnosis.Diagnosis, id string) {
	n := d.Graph.Node(id)
	page.Fold(w, "", n.Says+mark(d, id))
	if n.Quote != "" {
		page.Fold(w, "  it says: ", n.Quote)
	}
	if len(d.Graph.From(id)) > 0 {
		fmt.Fprintln(w, "waits for")
		tree(w, d, id, "  ", true, map[string]bool{id: true})
	}
	if len(d.Graph.To(id)) > 0 {
		fmt.Fprintln(w, "is waited for by")
		tree(w, d, id, "  ", false, map[string]bool{id: true})
	}
	part := around(d, []string{id})
	count := 0
	for i := range d.Steps {
		if part.Node(d.Steps[i].Object) != nil {
			diagnosing.Step(w, count, &d.Steps[i], true)
			count++
		}
	}
}

// tree writes what is below a node, each once.
func tree(w io.Writer, d *diagnosis.Diagnosis, id, margin string, down bool, seen map[string]bool) {
	edges := d.Graph.From(id)
	if !down {
		edges = d.Graph.To(id)
	}
	for _, e := range edges {
		next := e.To
		if !down {
			next = e.From
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		page.Fold(w, margin, d.Graph.Node(next).Says+mark(d, next))
		tree(w, d, next, margin+"  ", down, seen)
	}
}

// mark says that a node is a cause.
func mark(d *diagnosis.Diagnosis, id string) string {
	if slices.ContainsFunc(d.Causes, func(c diagnosis.Cause) bool { return slices.Contains(c.Nodes, id) }) {
		return " (a cause)"
	}
	return ""
}
