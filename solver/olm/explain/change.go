package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/resource"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// Change is one change of one object that helps. Its command and its effect on a Cluster, see
// [Cluster.After], are made of the same data. With neither Patch nor Create it deletes the object.
type Change struct {
	Kind      Kind           // of the object
	Namespace string         // where it is
	Name      string         // its name
	Patch     map[string]any // is merged into the object, as in RFC 7386
	Create    map[string]any // the spec of an operator group that is created
}

// resources are the names of kinds on command lines.
var resources = map[Kind]string{KindSubscription: "subscriptions.operators.coreos.com", KindCSV: "csv", KindInstallPlan: "installplan", KindOperatorGroup: "operatorgroup", KindCatalogSource: "catalogsource"}

// Command is the command that makes the change. A shell runs it as printed.
func (x Change) Command() string {
	switch {
	case x.Create != nil:
		return create("operators.coreos.com/v1", string(x.Kind), x.Namespace, x.Name, x.Create)
	case x.Patch != nil:
		return shell.Command("kubectl patch %s -n %s %s --type merge -p %s", resources[x.Kind], x.Namespace, x.Name, shell.JSON(x.Patch))
	}
	return shell.Command("kubectl delete %s -n %s %s", resources[x.Kind], x.Namespace, x.Name)
}

// does makes changes what helps; their commands come after those that are there.
func (w *Wait) does(changes ...Change) {
	w.Changes = changes
	for _, x := range changes {
		w.Commands = append(w.Commands, x.Command())
	}
}

// groupReasons are OLM's reasons why an operator does not suit the operator groups.
var groupReasons = []group.Reason{
	group.ReasonNoOperatorGroup, group.ReasonTooManyOperatorGroups, group.ReasonNoTargetNamespaces, group.ReasonUnsupportedOperatorGroup, group.ReasonCannotModifyStatic,
}

// After returns the cluster after changes, and after OLM has noticed them: an approved plan is
// carried out, and an operator that failed for its operator group is tried again. What OLM chooses
// is not computed. c is not changed. The error names an object that is not there, or cannot be
// changed so.
func (c *Cluster) After(changes ...Change) (*Cluster, error) {
	out := *c
	out.retried = maps.Clone(c.retried)
	if out.retried == nil {
		out.retried = map[string]bool{}
	}
	for i := range changes {
		if err := out.change(&changes[i]); err != nil {
			return nil, err
		}
		out.retry(&changes[i])
	}
	out.notice()
	return &out, nil
}

// retry notes the namespaces that OLM resolves again after a change.
func (c *Cluster) retry(x *Change) {
	c.retried[x.Namespace] = true
	if x.Kind != KindCatalogSource {
		return
	}
	for i := range c.Subscriptions {
		s := &c.Subscriptions[i]
		if x.Namespace == c.global() || s.Namespace == x.Namespace {
			c.retried[s.Namespace] = true
		}
	}
}

// change makes one change, in a list of its own.
func (c *Cluster) change(x *Change) (err error) {
	switch x.Kind {
	case KindSubscription:
		c.Subscriptions, err = changed(c.Subscriptions, func(o *resource.Subscription) *ObjectMeta { return &o.ObjectMeta }, x)
	case KindCSV:
		c.CSVs, err = changed(c.CSVs, func(o *resource.ClusterServiceVersion) *ObjectMeta { return &o.ObjectMeta }, x)
	case KindInstallPlan:
		c.Plans, err = changed(c.Plans, func(o *resource.InstallPlan) *ObjectMeta { return &o.ObjectMeta }, x)
	case KindOperatorGroup:
		c.Groups, err = changed(c.Groups, func(o *group.OperatorGroup) *ObjectMeta { return &o.ObjectMeta }, x)
	case KindCatalogSource:
		c.Catalogs, err = changed(c.Catalogs, func(o *source.CatalogSource) *ObjectMeta { return &o.ObjectMeta }, x)
	default:
		err = fmt.Errorf("%s %s/%s: this kind cannot be changed on a copy", x.Kind, x.Namespace, x.Name)
	}
	return err
}

// changed returns a copy of a list with one change.
func changed[T any](list []T, meta func(*T) *ObjectMeta, x *Change) ([]T, error) {
	at := slices.IndexFunc(list, func(o T) bool { m := meta(&o); return m.Namespace == x.Namespace && m.Name == x.Name })
	list = slices.Clone(list)
	switch {
	case x.Create != nil && at < 0:
		var o T
		if err := merge(&o, map[string]any{"metadata": map[string]any{"namespace": x.Namespace, "name": x.Name}, "spec": x.Create}); err != nil {
			return nil, err
		}
		return append(list, o), nil
	case at < 0 || x.Create != nil:
		return nil, fmt.Errorf("%s %s/%s: it does not exist, or exists already", x.Kind, x.Namespace, x.Name)
	case x.Patch == nil:
		return slices.Delete(list, at, at+1), nil
	}
	return list, merge(&list[at], x.Patch)
}

// merge merges a patch into an object.
func merge[T any](o *T, patch map[string]any) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	var tree map[string]any
	if err = json.Unmarshal(text, &tree); err != nil {
		return err
	}
	if text, err = json.Marshal(merged(tree, patch)); err != nil {
		return err
	}
	var fresh T
	if err = json.Unmarshal(text, &fresh); err == nil {
		*o = fresh
	}
	return err
}

func merged(to, patch map[string]any) map[string]any {
	if to == nil {
		to = map[string]any{}
	}
	for k, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(to, k)
		case map[string]any:
			old, _ := to[k].(map[string]any)
			to[k] = merged(old, v)
		default:
			to[k] = v
		}
	}
	return to
}

// notice lets OLM see what was changed.
func (c *Cluster) notice() {
	c.Plans, c.CSVs, c.Subscriptions = slices.Clone(c.Plans), slices.Clone(c.CSVs), slices.Clone(c.Subscriptions)
	for i := range c.Plans {
		p := &c.Plans[i]
		if p.Status.Phase != "RequiresApproval" || !p.Spec.Approved {
			continue
		}
		p.Status.Phase, p.Status.StartTime = "Installing", c.Now
		if lost := (&View{}); c.lostVersions(lost, p) {
			p.Status.Phase, p.Status.Message = "Failed", lost.Waits[0].Message
		}
	}
	for i := range c.CSVs {
		csv := &c.CSVs[i]
		if _, err := group.Sole(c.Groups, csv.Namespace); err == nil && slices.Contains(groupReasons, group.Reason(csv.Status.Reason)) {
			csv.Status.LastTransitionTime = c.Now // it is tried again
		}
	}
	for i := range c.Subscriptions {
		s := &c.Subscriptions[i]
		s.Status.Conditions = slices.DeleteFunc(slices.Clone(s.Status.Conditions), func(x fairlead.Condition) bool {
			switch x.Type {
			case "CatalogSourcesUnhealthy":
				return c.catalogsAnswer(s)
			case "ResolutionFailed":
				return c.outdated(s, &x)
			}
			return false
		})
	}
}

// catalogsAnswer reports whether all catalogs that the namespace of a subscription sees are known
// to answer.
func (c *Cluster) catalogsAnswer(sub *resource.Subscription) bool {
	all := c.visible(sub.Namespace, sub.Source())
	return len(all) > 0 && !slices.ContainsFunc(all, func(s *source.CatalogSource) bool { h := healthOf(s); return h.bad || h.unknown })
}

// outdated reports whether what OLM says about a resolution that failed is no longer so.
func (c *Cluster) outdated(sub *resource.Subscription, x *fairlead.Condition) bool {
	if x.Reason == "ErrorPreventedResolution" {
		return unread.MatchString(x.Message) && c.catalogsAnswer(sub)
	}
	if m := noVersion.FindStringSubmatch(x.Message); m != nil {
		s := c.sub(sub.Namespace, m[4])
		return s != nil && s.Spec.StartingCSV == "" && (c.offers(s) == nil || c.serves(s, s.Spec.Channel))
	}
	if m := noChannel.FindStringSubmatch(x.Message); m != nil {
		s := c.sub(sub.Namespace, m[3])
		return s != nil && s.Spec.Channel != m[1] && c.serves(s, s.Spec.Channel)
	}
	if m := orphan.FindStringSubmatch(x.Message); m != nil {
		return c.csv(sub.Namespace, m[1]) == nil && c.known(KindCSV, sub.Namespace)
	}
	if onePkg.MatchString(x.Message) || oneAPI.MatchString(x.Message) {
		there := 0
		for _, m := range asks.FindAllStringSubmatch(x.Message, -1) {
			if c.sub(sub.Namespace, m[1]) != nil {
				there++
			}
		}
		return there < 2
	}
	return false
}
