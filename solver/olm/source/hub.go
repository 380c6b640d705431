package source

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Hub is a cluster's only OperatorHub, which is named cluster. It says which of the
// default catalogs the cluster has.
type Hub struct {
	ObjectMeta `json:"metadata"`
	Spec       HubSpec   `json:"spec"`   // its desired state
	Status     HubStatus `json:"status"` // its observed state
}

// HubSpec says which default catalogs a cluster has.
type HubSpec struct {
	// DisableAllDefaultSources disables every default catalog except those that
	// Sources names as not disabled.
	DisableAllDefaultSources bool `json:"disableAllDefaultSources,omitempty"`
	// Sources overrides DisableAllDefaultSources for single catalogs. Of entries
	// with the same name the last one counts.
	Sources []HubSource `json:"sources,omitempty"`
}

// HubSource says whether the cluster has a default catalog.
type HubSource struct {
	Name     string `json:"name"`     // of the catalog
	Disabled bool   `json:"disabled"` // the cluster does not have it
}

// HubStatus is the observed state of an OperatorHub.
type HubStatus struct {
	Sources []HubSourceStatus `json:"sources,omitempty"` // by name
}

// HubSourceStatus is the observed state of one catalog.
type HubSourceStatus struct {
	HubSource
	Status  string `json:"status,omitempty"`  // Success or Error
	Message string `json:"message,omitempty"` // why Error
}

// marketplaceNamespace is where the default catalogs live.
const marketplaceNamespace = "openshift-marketplace"

// DefaultSources returns the catalogs that clusters have by default, by name, for
// a version of the cluster as in the tags of their images, such as v4.19.
//
// They are those of the marketplace operator at commit 1b7ac84, as far as [Spec]
// has their fields.
func DefaultSources(tag string) []CatalogSource {
	source := func(name, image, display string, priority int) CatalogSource {
		return CatalogSource{
			ObjectMeta: ObjectMeta{Name: name, Namespace: marketplaceNamespace, Annotations: map[string]string{ManagedByAnnotation: marketplace}},
			Spec: Spec{
				SourceType: TypeGRPC, Image: "registry.redhat.io/redhat/" + image + ":" + tag, DisplayName: display, Publisher: "Red Hat", Priority: priority,
				UpdateStrategy: &UpdateStrategy{RegistryPoll: &RegistryPoll{Interval: "240m"}},
				GRPCPodConfig:  marketplacePods(),
			},
		}
	}
	return []CatalogSource{
		source("certified-operators", "certified-operator-index", "Certified Operators", -200),
		source("community-operators", "community-operator-index", "Community Operators", -400),
		source("redhat-operators", "redhat-operator-index", "Red Hat Operators", -100),
	}
}

// marketplacePods returns the configuration of the pods of default catalogs.
func marketplacePods() *PodConfig {
	class, wait := "system-cluster-critical", int64(120)
	gone := func(key string) Toleration {
		return Toleration{Key: key, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &wait}
	}
	return &PodConfig{
		NodeSelector: map[string]string{"node-role.kubernetes.io/master": "", "kubernetes.io/os": "linux"},
		Tolerations: []Toleration{
			{Key: "node-role.kubernetes.io/master", Operator: "Exists", Effect: "NoSchedule"},
			gone("node.kubernetes.io/unreachable"), gone("node.kubernetes.io/not-ready"),
		},
		PriorityClassName: &class, SecurityContextConfig: SecurityRestricted,
	}
}

// HubPlan is what must be done so that a cluster has the default catalogs that its
// OperatorHub requests. The lists are sorted by name.
type HubPlan struct {
	Create []CatalogSource // those that are missing
	Update []CatalogSource // those that differ, as they must be: the default, with the metadata in the cluster
	Delete []CatalogSource // those that are disabled, as in the cluster
	Status HubStatus       // to be written once that is done
}

// Plan decides which catalogs are created, reset to their default or deleted. With
// a nil hub the cluster has every default catalog. Catalogs of other names are left
// alone, and so is one with the name of a disabled default that is not managed by
// the marketplace operator (see ManagedByAnnotation): it belongs to a user. One
// that is being deleted is created once it is gone. The arguments are not modified;
// the result shares memory with them.
func (h *Hub) Plan(defaults, have []CatalogSource) HubPlan {
	var p HubPlan
	disabled := map[string]bool{}
	for _, d := range defaults {
		disabled[d.Name] = h != nil && h.Spec.DisableAllDefaultSources
	}
	if h != nil {
		for _, s := range h.Spec.Sources {
			if !slices.ContainsFunc(defaults, func(d CatalogSource) bool { return d.Name == s.Name }) {
				p.Status.Sources = append(p.Status.Sources, HubSourceStatus{s, "Error", "Not present in the default definitions"})
			}
			disabled[s.Name] = s.Disabled
		}
	}
	for _, d := range defaults {
		at := slices.IndexFunc(have, func(c CatalogSource) bool { return c.Key() == d.Key() })
		p.Status.Sources = append(p.Status.Sources, HubSourceStatus{HubSource{d.Name, disabled[d.Name]}, "Success", ""})
		switch {
		case at < 0 && !disabled[d.Name]:
			p.Create = append(p.Create, d)
		case at < 0 || have[at].DeletionTimestamp != nil:
		case !disabled[d.Name]:
			if now := d.restored(&have[at]); now != nil {
				p.Update = append(p.Update, *now)
			}
		case have[at].Annotations[ManagedByAnnotation] == marketplace:
			p.Delete = append(p.Delete, have[at])
		}
	}
	byName := func(a, b CatalogSource) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(p.Create, byName)
	slices.SortFunc(p.Update, byName)
	slices.SortFunc(p.Delete, byName)
	slices.SortStableFunc(p.Status.Sources, func(a, b HubSourceStatus) int { return cmp.Compare(a.Name, b.Name) })
	p.Status.Sources = lastOfEach(p.Status.Sources)
	return p
}

// restored returns a catalog of the cluster reset to its default, or nil if it
// already matches. The case of letters does not count.
func (c *CatalogSource) restored(have *CatalogSource) *CatalogSource {
	if have.Annotations[ManagedByAnnotation] == marketplace && reflect.DeepEqual(folded(c.Spec), folded(have.Spec)) {
		return nil
	}
	now := *have
	now.Spec, now.Annotations = c.Spec, maps.Clone(have.Annotations)
	if now.Annotations == nil {
		now.Annotations = map[string]string{}
	}
	now.Annotations[ManagedByAnnotation] = marketplace
	return &now
}

// folded returns a spec whose texts are in lower case.
func folded(s Spec) Spec {
	s.SourceType = Type(strings.ToLower(string(s.SourceType)))
	for _, text := range []*string{&s.Image, &s.Address, &s.ConfigMap, &s.DisplayName, &s.Publisher} {
		*text = strings.ToLower(*text)
	}
	return s
}

// lastOfEach drops all but the last of the entries with the same name, which are
// adjacent.
func lastOfEach(list []HubSourceStatus) []HubSourceStatus {
	kept := list[:0]
	for i, s := range list {
		if i+1 == len(list) || list[i+1].Name != s.Name {
			kept = append(kept, s)
		}
	}
	return kept
}

// IsDefault reports whether a catalog is one that clusters have by default, and
// that the marketplace operator manages.
func (c *CatalogSource) IsDefault() bool {
	return c.Annotations[ManagedByAnnotation] == marketplace || isDefault(c.Key())
}

func isDefault(key resource.SourceKey) bool {
	return key.Namespace == marketplaceNamespace && slices.ContainsFunc(DefaultSources(""), func(d CatalogSource) bool { return d.Name == key.Name })
}

// Disables reports whether key is that of a default catalog which the hub disables.
func (h *Hub) Disables(key resource.SourceKey) bool {
	if h == nil || !isDefault(key) {
		return false
	}
	disabled := h.Spec.DisableAllDefaultSources
	for _, s := range h.Spec.Sources {
		if s.Name == key.Name {
			disabled = s.Disabled
		}
	}
	return disabled
}
