package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Reasons of waits of extensions. Those of OLM v1's own conditions are kept.
const (
	ReasonCatalogNotServing = "CatalogNotServing" // a ClusterCatalog is not served
	ReasonNoCatalog         = "NoCatalog"         // no ClusterCatalog matches its selector
	ReasonRefused           = "NoBundle"          // the catalogs offer nothing that it may get
	ReasonRevision          = "RevisionNotReady"  // the objects of a revision are not ready
)

// The label and the conditions of OLM v1 that are read.
const (
	ownerNameLabel  = "olm.operatorframework.io/owner-name"
	typeProgressing = "Progressing"
	typeAvailable   = "Available"
)

// Extension is the view of a ClusterExtension; nil if the cluster does not have it.
func (c *Cluster) Extension(name string) *View {
	for i := range c.Extensions {
		if c.Extensions[i].Name == name {
			return c.extension(&c.Extensions[i])
		}
	}
	return nil
}

func (c *Cluster) extension(x *Extension) *View {
	v := &View{Kind: KindExtension, Name: x.Name, Phase: "not installed", Next: x.Next}
	if is := x.Status.Install; is != nil {
		v.Installed = is.Bundle.Name
		v.Phase = fmt.Sprintf("%s is installed", is.Bundle.Name)
	}
	if x.DeletionTimestamp != nil {
		c.teardown(v, x)
		return v
	}
	c.namespaceGoes(v, x.Spec.Namespace, "service account")
	c.served(v, x)
	c.refused(v, x)
	c.progressing(v, x)
	c.revisions(v, x)
	c.nothing(v, "operator-controller", shell.Command("kubectl describe clusterextension %s", x.Name))
	for _, kind := range []string{"PackageDeprecated", "ChannelDeprecated", "BundleDeprecated"} {
		if at := holds(x.Status.Conditions, kind); at != nil {
			v.Notes = append(v.Notes, kind+": "+clause(at.Message))
		}
	}
	return c.late(v)
}

// teardown is an extension that is being deleted.
func (c *Cluster) teardown(v *View, x *Extension) {
	v.Phase += ", being deleted"
	w := Wait{Block: fairlead.Block{Reason: "Deleting", Since: *x.DeletionTimestamp,
		Message: fmt.Sprintf("it is being deleted, and waits for finalizers %s", strings.Join(x.Finalizers, ", ")), Owner: "operator-controller",
		Unblock: "see which of its objects cannot be deleted; their finalizers, or what its service account may not do, keep them"},
		Commands: []string{shell.Command("kubectl get clusterextensionrevisions -l %s -o yaml", ownerNameLabel+"="+x.Name)}}
	if at := fairlead.FindCondition(x.Status.Conditions, typeProgressing); at != nil && at.Reason == "Retrying" {
		w.Message += ": " + clause(at.Message)
		if extAccount.MatchString(at.Message) {
			space, account := x.Spec.Namespace, x.Spec.ServiceAccount.Name
			w.Owner, w.Unblock = "whoever deleted service account "+space+"/"+account, "create the service account again: the bindings that name it give it its rights back, and the removal goes on; delete it afterwards"
			w.Commands = []string{shell.Command("kubectl create serviceaccount -n %s %s", space, account)}
		} else if what, ok := c.extensionCause(x, at.Message); ok {
			w.Owner, w.Unblock, w.Commands = cmp.Or(what.owner, w.Owner), what.unblock, what.commands
		}
	}
	v.add(w)
}

// served adds the catalogs of an extension that are not served.
func (c *Cluster) served(v *View, x *Extension) {
	var mine, enabled []*resource.ClusterCatalog
	for i := range c.Served {
		if s := &c.Served[i]; selects(x, s) {
			mine = append(mine, s)
			if s.Spec.AvailabilityMode != "Unavailable" {
				enabled = append(enabled, s)
			}
		}
	}
	slices.SortFunc(enabled, func(a, b *resource.ClusterCatalog) int { return strings.Compare(a.Name, b.Name) })
	if len(enabled) == 0 && c.known(KindClusterCatalog, "") {
		w := Wait{Block: fairlead.Block{Reason: ReasonNoCatalog, Message: "no ClusterCatalog matches its selector", Owner: "whoever owns the catalogs",
			Unblock: "add one that matches spec.source.catalog.selector, or correct the selector"}, Commands: []string{shell.Command("kubectl get clustercatalogs --show-labels")}}
		if len(mine) > 0 {
			w.Message = fmt.Sprintf("the ClusterCatalogs that match are disabled: %s", mine[0].Name)
			w.Unblock = "enable it"
			w.Commands = []string{shell.Command("kubectl patch clustercatalog %s --type merge -p %s", mine[0].Name, shell.JSON(map[string]any{"spec": map[string]any{"availabilityMode": "Available"}}))}
		}
		v.add(w)
	}
	for _, s := range enabled {
		serving := fairlead.FindCondition(s.Status.Conditions, "Serving")
		progress := fairlead.FindCondition(s.Status.Conditions, typeProgressing)
		if serving == nil || serving.Status == fairlead.ConditionTrue {
			continue
		}
		told := serving
		if progress != nil && (progress.Reason == "Retrying" || progress.Reason == "Blocked") {
			told = progress
		}
		w := Wait{Block: fairlead.Block{Reason: ReasonCatalogNotServing, Message: fmt.Sprintf("ClusterCatalog %s is not served: %s", s.Name, detail(told.Reason, told.Message)),
			Since: serving.LastTransitionTime, Owner: "whoever owns ClusterCatalog " + s.Name, Unblock: "see why its image cannot be unpacked (reference, pull secret, mirror)"}, About: &Object{Kind: KindClusterCatalog, Name: s.Name}}
		if what, ok := imageCause(told.Message, "ClusterCatalog "+s.Name, "catalogd-controller-manager"); ok {
			w.Owner, w.Unblock, w.Commands = cmp.Or(what.owner, w.Owner), what.unblock, what.commands
		}
		w.Commands = append(w.Commands, shell.Command("kubectl describe clustercatalog %s", s.Name))
		v.add(w)
	}
}

func selects(x *Extension, s *resource.ClusterCatalog) bool {
	f := x.Spec.Source.Catalog
	if f == nil || f.Selector == nil {
		return true
	}
	labels := map[string]string{"olm.operatorframework.io/metadata.name": s.Name}
	for k, l := range s.Labels {
		labels[k] = l
	}
	return f.Selector.Matches(labels)
}

// refused adds why the catalogs offer nothing for what is requested.
func (c *Cluster) refused(v *View, x *Extension) {
	if x.Refused == "" {
		return
	}
	w := Wait{Block: fairlead.Block{Reason: ReasonRefused, Message: clause(x.Refused), Owner: "whoever owns the extension or the catalogs", Unblock: "request another version or channel"}}
	if what, ok := badRange(x, x.Refused); ok {
		w.Owner, w.Unblock, w.Commands = what.owner, what.unblock, what.commands
	} else if len(x.Similar) > 0 && x.Status.Install == nil {
		w.Owner, w.Unblock = "whoever owns the extension", fmt.Sprintf("create the extension again for the package that is meant, as the command does for %s: its packageName cannot be changed", x.Similar[0])
		w.Commands = again(x, x.Similar[0])
	} else if x.Highest != "" && x.Status.Install == nil {
		w.Owner, w.Unblock = "whoever owns the extension", fmt.Sprintf("no such version is in the range: request %s, the highest that can be installed, as the command does, or a range that includes what there is", x.Highest)
		w.Commands = []string{patchExtension(x, map[string]any{"source": map[string]any{"catalog": map[string]any{"version": x.Highest}}})}
	} else if len(x.Path) > 0 {
		w.Message += "; the path is " + strings.Join(x.Path, ", ")
		w.Unblock = fmt.Sprintf("request the next version of the path, %s, first", x.Path[0])
		request := map[string]any{"version": x.Path[0]}
		if x.PathChannel != "" {
			w.Unblock += ", with the channel that has it, " + x.PathChannel
			request["channels"] = append(slices.Clone(x.Spec.Source.Catalog.Channels), x.PathChannel)
		}
		w.Commands = []string{shell.Command("kubectl patch clusterextension %s --type merge -p %s", x.Name, shell.JSON(map[string]any{
			"spec": map[string]any{"source": map[string]any{"catalog": request}}}))}
	} else if x.NoWay {
		w.Unblock = "ask the authors of the catalog for an update from this version; if they allow that jump, do without the check of successors"
		w.Commands = []string{shell.Command("kubectl patch clusterextension %s --type merge -p %s", x.Name, shell.JSON(map[string]any{
			"spec": map[string]any{"source": map[string]any{"catalog": map[string]any{"upgradeConstraintPolicy": "SelfCertified"}}}}))}
	}
	v.add(w)
}

// plainName is a name that means nothing else in an expression of sed.
var plainName = regexp.MustCompile(`^[-a-z0-9]+$`)

// again is the command that creates an extension again for another package; none if a name is
// not as it should be.
func again(x *Extension, pkg string) []string {
	was := x.Spec.Source.Catalog.Package
	if !plainName.MatchString(was) || !plainName.MatchString(pkg) {
		return nil
	}
	return []string{shell.Command("kubectl get clusterextension %s -o json", x.Name) + " | " +
		shell.Command("sed %s", fmt.Sprintf(`s/"packageName": "%s"/"packageName": "%s"/`, was, pkg)) + " | " + shell.Command("kubectl replace --force -f -")}
}

// progressing adds what its own condition says, if nothing above has said it.
func (c *Cluster) progressing(v *View, x *Extension) {
	at := fairlead.FindCondition(x.Status.Conditions, typeProgressing)
	if at == nil || len(v.Waits) > 0 {
		return
	}
	switch {
	case at.Status == fairlead.ConditionTrue && at.Reason == "Succeeded":
		return
	case at.Reason == "RollingOut":
		v.add(Wait{Passing: true, Block: fairlead.Block{Reason: at.Reason, Message: clause(at.Message), Since: at.LastTransitionTime, Owner: "operator-controller", Unblock: "wait until its objects are ready"}})
		return
	}
	w := Wait{Block: fairlead.Block{Reason: cmp.Or(at.Reason, "NotProgressing"), Message: clause(at.Message), Since: at.LastTransitionTime, Owner: "whoever owns the extension", Unblock: "remove the cause; it is tried again"}}
	if at.Status == fairlead.ConditionFalse || at.Reason == "Blocked" {
		w.Unblock = "change the extension: it is not tried again as it is"
	}
	if what, ok := c.extensionCause(x, at.Message); ok {
		w.Owner, w.Unblock, w.Commands = cmp.Or(what.owner, w.Owner), what.unblock, what.commands
	}
	if len(w.Commands) == 0 {
		w.Commands = append(w.Commands, shell.Command("kubectl describe clusterextension %s", x.Name))
	}
	v.add(w)
}

// revisions adds the revisions whose objects are not ready, as the extension shows
// them.
func (c *Cluster) revisions(v *View, x *Extension) {
	active := x.Status.ActiveRevisions
	if len(active) == 0 { // the extension tells it itself
		active = []resource.ActiveRevision{{}}
	}
	for i := range active {
		r := &active[i]
		at := fairlead.FindCondition(r.Conditions, typeAvailable)
		if at == nil && i == 0 {
			at = fairlead.FindCondition(x.Status.Conditions, typeAvailable)
		}
		if at == nil || at.Status == fairlead.ConditionTrue {
			continue
		}
		text := detail(at.Reason, at.Message)
		if r.Name != "" {
			text = "revision " + r.Name + ": " + text
		}
		v.add(Wait{Block: fairlead.Block{Reason: ReasonRevision, Message: text, Since: at.LastTransitionTime,
			Owner: "the objects of the revision", Unblock: "see why they are not ready"}, Commands: []string{shell.Command("kubectl describe clusterextension %s", x.Name)}})
	}
}
