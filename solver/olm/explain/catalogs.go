package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/resource"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// Reasons of waits about catalogs. Those of OLM's own conditions are used where
// there is one.
const (
	ReasonCatalogUnhealthy = "CatalogSourcesUnhealthy" // a catalog that the namespace sees does not answer
	ReasonCatalogMissing   = "CatalogSourceMissing"    // the subscription names one that does not exist
	ReasonCatalogDisabled  = "CatalogSourceDisabled"   // it is a default catalog that the OperatorHub disables
	ReasonCatalogUnknown   = "CatalogSourceUnknown"    // nothing is known of its health
)

// health is what is known of a catalog.
type health struct {
	bad     bool   // it is known not to work
	unknown bool   // nothing is reported
	state   string // in words
}

func healthOf(c *source.CatalogSource) health {
	if err := c.Check(); err != nil {
		return health{bad: true, state: "its spec is not valid: " + strings.TrimPrefix(err.Error(), fmt.Sprintf("catalog source %s: ", c.ObjectMeta))}
	}
	conn := c.Status.ConnectionState
	switch {
	case conn == nil || conn.LastObservedState == "":
		if c.Status.Reason != "" || c.Status.Message != "" {
			return health{bad: true, state: "it is not connected: " + detail(c.Status.Reason, c.Status.Message)}
		}
		return health{unknown: true, state: "no connection is reported"}
	case conn.LastObservedState == source.StateReady, conn.LastObservedState == source.StateIdle:
		return health{}
	}
	text := fmt.Sprintf("its connection is %s", conn.LastObservedState)
	if more := detail(c.Status.Reason, c.Status.Message); more != "" {
		text += " (" + more + ")"
	}
	return health{bad: true, state: text}
}

// detail joins a reason and a message.
func detail(reason, message string) string {
	message = clause(message)
	switch {
	case reason == "" || strings.HasPrefix(message, reason):
		return message
	case message == "":
		return reason
	}
	return reason + ": " + message
}

// visible are the catalogs that OLM asks for a namespace: those in it, and those
// of the global namespace, unless its operator group excludes them. The one that
// first names comes first.
func (c *Cluster) visible(namespace string, first resource.SourceKey) []*source.CatalogSource {
	global := c.global()
	if g, err := group.Sole(c.Groups, namespace); err == nil && g.Annotations[group.ExcludeGlobalNamespaceAnnotation] == "true" {
		global = namespace
	}
	var all []*source.CatalogSource
	for i := range c.Catalogs {
		if s := &c.Catalogs[i]; s.Namespace == namespace || s.Namespace == global {
			all = append(all, s)
		}
	}
	rank := func(s *source.CatalogSource) int {
		if s.Key() == first {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b *source.CatalogSource) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return all
}

// catalogs adds what the catalogs mean for a subscription: while one that the
// namespace sees does not answer, OLM resolves nothing there.
func (c *Cluster) catalogs(v *View, sub *resource.Subscription) {
	own := sub.Source()
	told := false
	for _, s := range c.visible(sub.Namespace, own) {
		h := healthOf(s)
		switch {
		case h.bad:
			told = true
			v.add(c.unhealthy(s, h, s.Key() == own))
		case h.unknown && s.Key() == own:
			v.Notes = append(v.Notes, fmt.Sprintf("catalog source %s: %s, so its health is not known", s.Key(), h.state))
		}
	}
	if own.Name != "" && c.known(KindCatalogSource, own.Namespace) && c.catalog(own) == nil {
		told = true
		v.add(c.missing(sub, own))
	}
	bad := holds(sub.Status.Conditions, "CatalogSourcesUnhealthy")
	if bad == nil || told {
		return
	}
	w := Wait{Block: fairlead.Block{Reason: ReasonCatalogUnhealthy, Message: clause(cmp.Or(bad.Message, bad.Reason)),
		Owner: "whoever owns the catalog", Since: bad.LastTransitionTime,
		Unblock: "repair or delete the catalogs that are not healthy: until then OLM installs and updates nothing in the namespace"}}
	w.Commands = []string{shell.Command("kubectl get catalogsources -A -o wide")}
	if bad.Reason == "NoCatalogSourcesFound" {
		w.Unblock = "create a CatalogSource in the namespace, or in the global one"
	}
	v.add(w)
}

func (c *Cluster) unhealthy(s *source.CatalogSource, h health, own bool) Wait {
	key := s.Key()
	what := "catalog source " + key.String()
	text := fmt.Sprintf("%s: %s", what, h.state)
	if !own {
		text = fmt.Sprintf("%s, which the namespace sees too: %s; OLM resolves nothing here meanwhile", what, h.state)
	}
	w := Wait{Block: fairlead.Block{Reason: ReasonCatalogUnhealthy, Message: text, Owner: "whoever owns " + what}, About: &Object{Kind: KindCatalogSource, Namespace: key.Namespace, Name: key.Name}}
	if conn := s.Status.ConnectionState; conn != nil {
		w.Since = conn.LastConnect
	}
	if s.Check() != nil {
		w.Unblock = "correct its spec"
		w.Commands = []string{shell.Command("kubectl edit catalogsource -n %s %s", key.Namespace, key.Name)}
		return w
	}
	if strings.Contains(s.Status.Message, podSecurity) {
		w.Unblock = "make its pod one that the Pod Security Standard of namespace " + key.Namespace + " allows"
		w.Commands = []string{shell.Command("kubectl patch catalogsource -n %s %s --type merge -p %s", key.Namespace, key.Name,
			shell.JSON(map[string]any{"spec": map[string]any{"grpcPodConfig": map[string]any{"securityContextConfig": "restricted"}}}))}
		return w
	}
	w.Unblock = "find out why its pod does not answer (image, pull secret, network)"
	w.Commands = []string{shell.Command("kubectl describe pods -n %s -l %s", key.Namespace, "olm.catalogSource="+key.Name)}
	switch {
	case own:
	case s.IsDefault():
		w.Unblock += "; or disable it, if nobody needs it"
		w.Commands = append(w.Commands, c.hubCommand(key.Name, true))
	default:
		w.Unblock += "; or delete it, if nobody needs it"
		w.Commands = append(w.Commands, shell.Command("kubectl delete catalogsource -n %s %s", key.Namespace, key.Name))
	}
	return w
}

// hubCommand disables or enables a default catalog. A patch writes the whole list,
// so what the hub says of other catalogs must be known.
func (c *Cluster) hubCommand(name string, disabled bool) string {
	if c.Hub == nil {
		return shell.Command("kubectl edit operatorhub cluster")
	}
	var sources []any
	for _, s := range c.Hub.Spec.Sources {
		if s.Name != name {
			sources = append(sources, map[string]any{"name": s.Name, "disabled": s.Disabled})
		}
	}
	sources = append(sources, map[string]any{"name": name, "disabled": disabled})
	return shell.Command("kubectl patch operatorhub cluster --type merge -p %s", shell.JSON(map[string]any{"spec": map[string]any{"sources": sources}}))
}

// missing is the wait for a catalog that does not exist.
func (c *Cluster) missing(sub *resource.Subscription, key resource.SourceKey) Wait {
	w := Wait{Block: fairlead.Block{Reason: ReasonCatalogMissing, Message: fmt.Sprintf("the subscription names catalog source %s, which does not exist", key),
		Owner: "whoever owns the subscription"}}
	if c.Hub != nil && c.Hub.Disables(key) {
		w.Reason, w.Owner = ReasonCatalogDisabled, "whoever owns the OperatorHub"
		w.Message = fmt.Sprintf("the subscription names the default catalog %s, which the OperatorHub disables", key)
		w.Unblock = "enable it, or create a CatalogSource of that name that serves a mirror"
		w.Commands = []string{c.hubCommand(key.Name, false)}
		return w
	}
	w.Unblock = "create it, or correct spec.source and spec.sourceNamespace of the subscription"
	var others []string
	for i := range c.Catalogs {
		if c.Catalogs[i].Name == key.Name {
			others = append(others, c.Catalogs[i].Namespace)
		}
	}
	slices.Sort(others)
	if others != nil {
		w.Unblock = fmt.Sprintf("a catalog of that name is in namespace %s: correct spec.sourceNamespace of the subscription", strings.Join(others, ", "))
	}
	if len(others) == 1 && (others[0] == sub.Namespace || others[0] == c.global()) {
		w.does(Change{Kind: KindSubscription, Namespace: sub.Namespace, Name: sub.Name, Patch: map[string]any{"spec": map[string]any{"sourceNamespace": others[0]}}})
		return w
	}
	w.Commands = []string{shell.Command("kubectl get catalogsources -A")}
	return w
}

// CatalogSource is the view of one catalog; nil if the cluster does not have it.
func (c *Cluster) CatalogSource(namespace, name string) *View {
	s := c.catalog(resource.SourceKey{Namespace: namespace, Name: name})
	if s == nil {
		return nil
	}
	v := &View{Kind: KindCatalogSource, Namespace: namespace, Name: name, Phase: "connected"}
	h := healthOf(s)
	switch {
	case h.bad:
		v.Phase = "not healthy"
		w := c.unhealthy(s, h, true)
		if n := c.users(s); n > 0 {
			w.Message += fmt.Sprintf("; %d namespaces with subscriptions see it: OLM resolves nothing in them", n)
		}
		v.add(w)
	case h.unknown:
		v.Phase = "unknown"
		v.add(Wait{Unknown: true, Block: fairlead.Block{Reason: ReasonCatalogUnknown, Message: h.state, Owner: "OLM",
			Unblock: "wait until OLM reports a connection; if it stays so, look at its pod"},
			Commands: []string{shell.Command("kubectl get pods -n %s -l %s", namespace, "olm.catalogSource="+name)}})
	}
	return v
}

// users counts the namespaces with subscriptions that see a catalog.
func (c *Cluster) users(s *source.CatalogSource) int {
	seen := map[string]bool{}
	for i := range c.Subscriptions {
		n := c.Subscriptions[i].Namespace
		if _, done := seen[n]; !done {
			seen[n] = slices.Contains(c.visible(n, s.Key()), s)
		}
	}
	n := 0
	for _, sees := range seen {
		if sees {
			n++
		}
	}
	return n
}
