package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// want is a requirement that is not met.
type want struct{ reason, message, owner, unblock string }

// unmet returns the first unmet requirement of a CSV; ok is true if all are
// met.
func (s *stepper) unmet(c *CSV, v group.Verdict) (w want, ok bool) {
	if text := s.tooOld(c); text != "" {
		return want{ReasonKubeVersion, text, "whoever owns the cluster", "update the cluster, or install an older version of the operator"}, false
	}
	if text := s.misdefined(c); text != "" {
		return want{ReasonInvalidWebhook, text, "the authors of " + c.Name, "use another version of the operator, or another operator group"}, false
	}
	if len(c.called()) > 0 && !s.Serves {
		return want{ReasonNotServed, "it has webhooks or API services, but this backend neither issues certificates nor lets the API server call it",
			"whoever runs this engine", "use a backend that serves them, see Cluster.Serves"}, false
	}
	if !s.listed(c, v) {
		return want{ReasonRequirementsNotMet, "its operator group does not list its APIs yet", groupSubject(v.Group), "wait until the group's annotation lists them"}, false
	}
	if missing := s.missingAPIs(c); len(missing) > 0 {
		return want{ReasonRequirementsNotMet, "not available: " + strings.Join(missing, ", "), "whoever provides these APIs", "wait until these APIs exist and are established, or install an operator that provides them"}, false
	}
	if step, missing := s.missingStep(c); missing {
		return want{ReasonRequirementsNotMet, step.String() + " of its install plan has not been applied", "its install plan", "wait until it is applied"}, false
	}
	if other, api, taken := s.owner(c); taken {
		return want{ReasonOwnerConflict, fmt.Sprintf("%s also owns %s", other, api), "csv " + other, "remove one of the two operators"}, false
	}
	if o := s.takenAPI(c); o != nil {
		return want{ReasonOwnerConflict, fmt.Sprintf("%s belongs to %s, and not to %s of namespace %s", o.Ref, whose(o.Owner), c.Name, s.Namespace),
			"whoever owns that API service", "remove it, or one of the two operators"}, false
	}
	if err := s.may(s.writes(c)...); err != nil {
		reason, owner := reasonOf(err)
		return want{reason, err.Error(), owner, "fix this first; it is not deployed until then"}, false
	}
	if old := s.csvs[c.Spec.Replaces]; old != nil {
		if v := s.upgradeable(old); !v.Open {
			return want{v.Reason, v.Message, "operator " + old.Name, "wait until its condition Upgradeable is no longer False, or override it"}, false
		}
	}
	if _, err := s.deployment(c); err != nil {
		return want{ReasonConfigInvalid, err.Error(), "whoever owns its subscription", "correct spec.config of the subscription"}, false
	}
	return want{}, true
}

// tooOld says why a CSV cannot run on the cluster's version of Kubernetes, or
// "". A version that cannot be parsed is ignored.
func (s *stepper) tooOld(c *CSV) string {
	least, err := semverx.ParseTolerant(c.Spec.MinKubeVersion)
	if err != nil || c.Spec.MinKubeVersion == "" {
		return ""
	}
	is, err := semverx.ParseTolerant(s.KubeVersion)
	if err != nil || s.KubeVersion == "" || is.Compare(least) >= 0 {
		return ""
	}
	return fmt.Sprintf("it needs Kubernetes %s or newer, but the cluster has %s", c.Spec.MinKubeVersion, s.KubeVersion)
}

// missingAPIs lists the APIs that a CSV owns or requires and that are not
// available, sorted.
func (s *stepper) missingAPIs(c *CSV) []string {
	var missing []string
	for _, list := range [][]olm.CRDDescription{c.Spec.CustomResourceDefinitions.Owned, c.Spec.CustomResourceDefinitions.Required} {
		for _, d := range list {
			if !s.serves(d) {
				missing = append(missing, fmt.Sprintf("CRD %s version %s", d.Name, d.Version))
			}
		}
	}
	for _, d := range c.Spec.APIServiceDefinitions.Required {
		if !slices.Contains(s.APIServices, d.Version+"."+d.Group) {
			missing = append(missing, fmt.Sprintf("API service %s.%s", d.Version, d.Group))
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

func (x *index) serves(d olm.CRDDescription) bool {
	c := x.crds[d.Name]
	return c != nil && c.serves(d.Version)
}

// missingStep returns the first object of the plan for a CSV that has not been
// applied.
func (s *stepper) missingStep(c *CSV) (Ref, bool) {
	if s.state.Plan == nil {
		return Ref{}, false
	}
	for _, step := range s.state.Plan.Steps {
		if step.Resolving == c.Name && !step.Done {
			return step.Ref, true
		}
	}
	return Ref{}, false
}

// owner returns another operator that owns an API of a CSV and neither replaces
// it nor is replaced.
func (s *stepper) owner(c *CSV) (other, api string, taken bool) {
	for _, o := range s.operators {
		if o.Name == c.Name || s.next[o.Name] != nil {
			continue
		}
		for _, d := range c.Spec.CustomResourceDefinitions.Owned {
			if slices.ContainsFunc(o.Spec.CustomResourceDefinitions.Owned, func(e olm.CRDDescription) bool { return d.Name == e.Name && d.Version == e.Version }) {
				return o.Name, d.Name, true
			}
		}
	}
	return "", "", false
}

// neededAPI returns an API that only c provides and the name of an operator
// that stays and requires it; by is empty if there is none.
func (s *stepper) neededAPI(c *CSV) (api, by string) {
	provided := apisOf(c.Spec.CustomResourceDefinitions.Owned, c.Spec.APIServiceDefinitions.Owned)
	others := make(map[string]bool)
	for _, o := range s.operators {
		if o.Name != c.Name && !s.relieved(o.Name) {
			for _, a := range apisOf(o.Spec.CustomResourceDefinitions.Owned, o.Spec.APIServiceDefinitions.Owned) {
				others[a] = true
			}
		}
	}
	for _, o := range s.operators {
		if o.Name == c.Name || s.relieved(o.Name) {
			continue
		}
		for _, a := range apisOf(o.Spec.CustomResourceDefinitions.Required, o.Spec.APIServiceDefinitions.Required) {
			if slices.Contains(provided, a) && !others[a] {
				return a, o.Name
			}
		}
	}
	return "", ""
}

func apisOf(crds []olm.CRDDescription, services []olm.APIServiceDescription) []string {
	var all []string
	for _, d := range crds {
		_, group, _ := strings.Cut(d.Name, ".")
		all = append(all, d.Kind+" ("+group+"/"+d.Version+")")
	}
	for _, d := range services {
		all = append(all, d.Kind+" ("+d.Group+"/"+d.Version+")")
	}
	return all
}

// takenAPI returns an API service that a CSV should have and that belongs to another
// namespace, or to nobody known; nil if there is none.
func (s *stepper) takenAPI(c *CSV) *Object {
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		ref := Ref{Group: groupRegistration, Kind: kindAPIService, Name: d.Version + "." + d.Group}
		if i := slices.IndexFunc(s.Generated, func(o Object) bool { return o.Ref == ref && o.Owner != s.Namespace }); i >= 0 {
			return &s.Generated[i]
		}
	}
	return nil
}
