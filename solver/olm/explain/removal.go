package explain

import (
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/removal"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Removal is a dry run: what to do, in this order, to remove an operator or to
// start its subscription over, and what is left.
type Removal struct {
	Subscription string        `json:"subscription"`     // as NAMESPACE/NAME
	Before       []RemovalStep `json:"before,omitempty"` // what to look at first: objects that the operator may have to clean up
	Steps        []RemovalStep `json:"steps"`            // what to do
	After        []RemovalStep `json:"after,omitempty"`  // what shows whether something is left that OLM should have removed
	// Stays is what stays on purpose; its commands remove it, with what depends on it.
	Stays []RemovalStep `json:"stays,omitempty"`
	// Dependents are the operators that lose something that they require. None is
	// known only as far as the CSVs of the namespace are.
	Dependents []removal.Dependent `json:"dependents,omitempty"`
	// Waits are what keeps a removal that has begun from going on.
	Waits []Wait `json:"waits,omitempty"`
}

// RemovalStep is one step, with a command that runs as printed.
type RemovalStep struct {
	Object  string `json:"object"`            // kind and name
	Why     string `json:"why"`               // a sentence
	Command string `json:"command,omitempty"` // does it, or shows it
}

// Uninstall plans the removal of a subscription's operator. The error is a
// *removal.NotFoundError.
func (c *Cluster) Uninstall(namespace, subscription string) (*Removal, error) {
	w := c.removalWorld(namespace)
	p, err := removal.Uninstall(w, subscription)
	if err != nil {
		return nil, err
	}
	return c.dryRun(namespace, subscription, w, p, nil), nil
}

// Refresh plans to start a failing subscription over: its CSV and the failed jobs
// that unpacked its bundle go, and the subscription is created again. The error is a
// *removal.NotFoundError.
func (c *Cluster) Refresh(namespace, subscription string) (*Removal, error) {
	w := c.removalWorld(namespace)
	p, again, err := removal.Refresh(w, subscription)
	if err != nil {
		return nil, err
	}
	return c.dryRun(namespace, subscription, w, p, again), nil
}

// removalWorld is what is known of a namespace, as package removal needs it.
func (c *Cluster) removalWorld(namespace string) *removal.World {
	w := &removal.World{CRDs: make(map[string][]string), Judge: &olm.Constraints{}}
	for _, s := range c.subscriptions(namespace) {
		w.Subscriptions = append(w.Subscriptions, *s)
	}
	for i := range c.CSVs {
		csv := &c.CSVs[i]
		if csv.Namespace != namespace {
			continue
		}
		w.CSVs = append(w.CSVs, *csv)
		for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
			w.CRDs[csv.Name] = append(w.CRDs[csv.Name], d.Name)
		}
	}
	for _, s := range w.Subscriptions {
		if holds(s.Status.Conditions, "BundleUnpackFailed") == nil {
			continue // its job, if there is one, did not fail
		}
		for _, job := range c.failedJobs(s.Spec.SourceNamespace) {
			w.Unpackings = append(w.Unpackings, removal.Unpacking{Namespace: s.Spec.SourceNamespace, Name: job, Bundle: s.Status.CurrentCSV, Failed: true})
		}
	}
	return w
}

func (c *Cluster) dryRun(namespace, subscription string, w *removal.World, p *removal.Plan, again *resource.Subscription) *Removal {
	r := &Removal{Subscription: namespace + "/" + subscription, Dependents: p.Dependents}
	for i := range p.Steps {
		s := &p.Steps[i]
		step := RemovalStep{Object: s.Object.String(), Why: s.Why, Command: deleteCommand(s.Object)}
		if s.Verb == removal.Create && again != nil {
			commands := c.recreate(again)
			step.Command = commands[len(commands)-1]
		}
		r.Steps = append(r.Steps, step)
		if s.Object.Kind == string(KindCSV) {
			c.around(r, w, s.Object.Name)
		}
	}
	for i := range p.Stays {
		s := &p.Stays[i]
		r.Stays = append(r.Stays, RemovalStep{Object: s.Object.String(), Why: s.Why, Command: deleteCommand(s.Object)})
	}
	if again != nil {
		r.Before, r.After, r.Stays = nil, nil, nil // nothing of it is lost: the operator comes back
	}
	c.stuck(r, namespace, subscription)
	return r
}

// around adds what to look at before and after a CSV goes.
func (c *Cluster) around(r *Removal, w *removal.World, csv string) {
	for _, name := range w.CRDs[csv] {
		r.Before = append(r.Before, RemovalStep{Object: "custom resources of " + name, Command: shell.Command("kubectl get %s -A", name),
			Why: "delete those that the operator has to clean up after while it still runs: later nobody removes their finalizers"})
	}
	kinds := "clusterroles,clusterrolebindings"
	for i := range w.CSVs {
		if w.CSVs[i].Name == csv && len(w.CSVs[i].Spec.WebhookDefinitions)+len(w.CSVs[i].Spec.APIServiceDefinitions.Owned) > 0 {
			kinds = "validatingwebhookconfigurations,mutatingwebhookconfigurations,apiservices," + kinds
		}
	}
	r.After = append(r.After, RemovalStep{Object: "objects of " + csv + " outside of the namespace", Command: shell.Command("kubectl get %s -l %s", kinds, "olm.owner="+csv),
		Why: "OLM removes them; what is still there afterwards blocks requests or grants rights, and has to be deleted by hand"})
}

// deleteCommand deletes an object; "" for what is no single object.
func deleteCommand(o removal.Object) string {
	kind := map[string]string{
		"Subscription": "subscriptions.operators.coreos.com", "ClusterServiceVersion": "csv", "CustomResourceDefinition": "crd",
		"Job": "job", "ConfigMap": "configmap", "OperatorGroup": "operatorgroup",
	}[o.Kind]
	switch {
	case kind == "":
		return ""
	case o.Namespace == "":
		return shell.Command("kubectl delete %s %s", kind, o.Name)
	}
	return shell.Command("kubectl delete %s -n %s %s", kind, o.Namespace, o.Name)
}

// stuck adds what a removal that has begun waits for.
func (c *Cluster) stuck(r *Removal, namespace, subscription string) {
	v := &View{Kind: KindSubscription, Namespace: namespace, Name: subscription}
	for _, sub := range c.subscriptions(namespace) {
		if sub.Name != subscription {
			continue
		}
		c.goes(v, sub)
		for _, name := range []string{sub.Status.CurrentCSV, sub.Status.InstalledCSV} {
			csv := c.csv(namespace, name)
			if csv == nil || len(v.Waits) > 0 && name == sub.Status.CurrentCSV {
				continue
			}
			if csv.DeletionTimestamp != nil {
				c.deleting(v, csv)
			}
			for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
				c.terminating(v, d.Name)
			}
			if sub.Status.CurrentCSV == sub.Status.InstalledCSV {
				break
			}
		}
	}
	r.Waits = v.Waits
}

// String is the dry run as text: numbered steps, each with its command.
func (r *Removal) String() string {
	var b strings.Builder
	for _, d := range r.Dependents {
		words.Fprintf(&b, "%s requires %s, which nothing else provides\n", d.Operator, strings.Join(d.Requires, ", "))
	}
	for i := range r.Waits {
		r.Waits[i].write(&b)
	}
	n, then := 0, "in this order:"
	if len(r.Before) > 0 {
		then = "then, " + then
	}
	for _, part := range []struct {
		head  string
		steps []RemovalStep
	}{{"look first:", r.Before}, {then, r.Steps}, {"afterwards:", r.After}, {"what stays, until somebody deletes it:", r.Stays}} {
		if len(part.steps) == 0 {
			continue
		}
		words.Fprintf(&b, "%v\n", part.head)
		for _, s := range part.steps {
			n++
			words.Fprintf(&b, "  %d. %s: %s\n", n, s.Object, s.Why)
			if s.Command != "" {
				words.Fprintf(&b, "     %s\n", s.Command)
			}
		}
	}
	return b.String()
}
