package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/operators"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/explain"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// dumpCommand prints the input of -cluster.
const dumpCommand = "kubectl get subscriptions.operators.coreos.com,csv,installplans,operatorgroups,operatorconditions,catalogsources,crd,namespaces -A -o yaml"

// cluster is the dump of a cluster.
type cluster struct {
	explain.Cluster
	odd   []string     // what the dump has in another shape than the API
	given []olm.Source // what -catalog names
	// missing is what is not known.
	missing []cvo.Gap
	known   *snapshot.Snapshot
	// version is the version of OpenShift, or "" if the dump does not have it.
	version string
}

// readCluster reads objects in JSON or YAML, single ones and lists as kubectl get
// prints them, from a file or all files of a directory. Irrelevant kinds
// are skipped.
func readCluster(from *reading.Source, name string) (*cluster, error) {
	c := &cluster{}
	var seen explain.Cluster // for what is odd about its objects
	var failed error
	from.Each = func(r *snapshot.Ref, text []byte) {
		odd, err := seen.Add(r.Kind, text)
		c.odd, failed = append(c.odd, odd...), errors.Join(failed, err)
	}
	s, err := from.Read(name)
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	c.Cluster = *operators.Of(s)
	c.known, c.missing = s, missing(s)
	if v := s.Version(); v != nil {
		c.version = v.Status.Desired.Version
	}
	c.place()
	if len(c.Subscriptions)+len(c.CSVs)+len(c.Extensions)+len(c.Catalogs) == 0 {
		return nil, from.Without(name, "there is neither a Subscription nor a ClusterExtension", "dump them with: "+dumpCommand)
	}
	return c, nil
}

// missing is what is not known of OLM's objects, in one line.
func missing(s *snapshot.Snapshot) []cvo.Gap {
	kinds := []string{"Subscription", "ClusterServiceVersion", "OperatorGroup", "CatalogSource"}
	gaps := s.Partly(kinds...)
	if len(s.Subscriptions.Items)+len(s.CSVs.Items) > 0 || len(s.Extensions.Items) == 0 { // not OLM v1 alone
		gaps = s.Missing(kinds...)
	}
	if len(gaps) == 0 {
		return nil
	}
	one := cvo.Gap{What: gaps[0].What, How: dumpCommand}
	for _, g := range gaps[1:] {
		one.What += ", " + g.What
	}
	return []cvo.Gap{one}
}

// place puts objects that state no namespace, as manifests do, into default.
func (c *cluster) place() {
	n := 0
	put := func(m *olm.ObjectMeta) {
		if m.Namespace == "" {
			m.Namespace = namespace
			n++
		}
	}
	for i := range c.Subscriptions {
		put(&c.Subscriptions[i].ObjectMeta)
	}
	for i := range c.CSVs {
		put(&c.CSVs[i].ObjectMeta)
	}
	for i := range c.Groups {
		put(&c.Groups[i].ObjectMeta)
	}
	for i := range c.Plans {
		put(&c.Plans[i].ObjectMeta)
	}
	if n > 0 {
		c.odd = append(c.odd, fmt.Sprintf("%s without a namespace: taken as in namespace %s", words.Count(n, "object", "objects"), namespace))
	}
}

// spaces returns the namespaces that have subscriptions, in order, or the requested
// one.
func (c *cluster) spaces(only string) ([]string, error) {
	var names []string
	for _, s := range c.Subscriptions {
		names = append(names, s.Namespace)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if only == "" {
		return names, nil
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("-namespace %s: nothing has a subscription", only)
	}
	if !slices.Contains(names, only) {
		return nil, fmt.Errorf("-namespace %s: it has no subscription; those that have are %s", only, strings.Join(names, ", "))
	}
	return []string{only}, nil
}

// request returns the request for a namespace, and messages about what is left out.
func (c *cluster) request(namespace string) (req *olm.Request, waits []string) {
	w := &install.World{Namespace: namespace}
	w.Namespaces = c.Namespaces
	for _, g := range c.Groups {
		w.Groups = append(w.Groups, install.OperatorGroup{OperatorGroup: g})
	}
	for _, s := range c.Subscriptions {
		if s.Namespace == namespace {
			w.Subscriptions = append(w.Subscriptions, install.Subscription{Subscription: s})
		}
	}
	for _, v := range c.CSVs {
		if v.Namespace == namespace {
			w.CSVs = append(w.CSVs, install.CSV{ClusterServiceVersion: v})
		}
	}
	req = w.Request()
	for _, s := range w.Subscriptions {
		if !slices.ContainsFunc(req.Subscriptions, func(o olm.Subscription) bool { return o.Name == s.Name }) {
			waits = append(waits, fmt.Sprintf("subscription %s in namespace %s is skipped: its operator %s has not succeeded, or is being removed", s.Name, namespace, s.Status.InstalledCSV))
		}
	}
	return req, waits
}

// key finds the catalog that -catalog names: NAME, or NAMESPACE/NAME.
func (c *cluster) key(name, global string) (key olm.SourceKey, priority int) {
	key.Name = name
	if namespace, rest, ok := strings.Cut(name, "/"); ok {
		key.Namespace, key.Name = namespace, rest
	}
	for _, s := range c.Catalogs {
		if s.Name == key.Name && (key.Namespace == "" || s.Namespace == key.Namespace) {
			return olm.SourceKey{Name: s.Name, Namespace: s.Namespace}, s.Spec.Priority
		}
	}
	for _, s := range c.Subscriptions {
		if s.Spec.Source == key.Name && key.Namespace == "" && s.Spec.SourceNamespace != "" {
			key.Namespace = s.Spec.SourceNamespace
		}
	}
	if key.Namespace == "" {
		key.Namespace = global
	}
	return key, 0
}

// absent returns the catalogs that subscriptions name and that were not given: their
// content is unknown.
func (c *cluster) absent(given []olm.Source) []olm.Source {
	var all []olm.Source
	for _, s := range c.Subscriptions {
		key := olm.SourceKey{Name: s.Spec.Source, Namespace: s.Spec.SourceNamespace}
		known := func(o olm.Source) bool { return o.SourceKey == key }
		if key.Name == "" || slices.ContainsFunc(given, known) || slices.ContainsFunc(all, known) {
			continue
		}
		all = append(all, olm.Source{SourceKey: key, Err: fmt.Errorf("its content is missing: add -catalog %s=PATH", key.Name)})
	}
	return all
}
