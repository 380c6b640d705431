package plan

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

// properties reads what a version of an operator requires of the cluster and of other
// operators, and what it provides.
func (v *OperatorVersion) properties(props []catalog.Property) error {
	for _, p := range props {
		switch p.Type {
		case catalog.PropertyMaxOpenShift:
			var text string // it may be a string or a number
			if json.Unmarshal(p.Value, &text) != nil {
				text = string(p.Value)
			}
			v.MaxOpenShift = strings.TrimSpace(text)
		case catalog.PropertyGVK:
			var api catalog.GVK
			if err := json.Unmarshal(p.Value, &api); err != nil {
				return err
			}
			v.Provides = append(v.Provides, api.String())
		case catalog.PropertyGVKRequired, catalog.PropertyPackageRequired:
			r, err := requirementOf(p.Value)
			if err != nil {
				return err
			}
			v.Requires = append(v.Requires, r)
		case catalog.PropertyConstraint:
			var c constraint
			if err := json.Unmarshal(p.Value, &c); err != nil {
				return err
			}
			if err := v.constraint(&c, p.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// constraint is an olm.constraint that consists of requirements.
type constraint struct {
	FailureMessage string          `json:"failureMessage"`
	GVK            json.RawMessage `json:"gvk"`
	Package        json.RawMessage `json:"package"`
	All            *struct {
		Constraints []json.RawMessage `json:"constraints"`
	} `json:"all"`
}

// constraint adds requirements; anything else stays unread.
func (v *OperatorVersion) constraint(c *constraint, text json.RawMessage) error {
	switch {
	case c.GVK != nil || c.Package != nil:
		value := c.GVK
		if value == nil {
			value = c.Package
		}
		r, err := requirementOf(value)
		v.Requires = append(v.Requires, r)
		return err
	case c.All != nil:
		for _, one := range c.All.Constraints {
			var inner constraint
			if err := json.Unmarshal(one, &inner); err != nil {
				return err
			}
			if err := v.constraint(&inner, one); err != nil {
				return err
			}
		}
	default:
		v.Unread = append(v.Unread, cmp.Or(c.FailureMessage, string(text)))
	}
	return nil
}

// requirementOf reads a package with its range, or an API.
func requirementOf(value json.RawMessage) (Requirement, error) {
	var x struct {
		PackageName  string `json:"packageName"`
		VersionRange string `json:"versionRange"`
		catalog.GVK
	}
	err := json.Unmarshal(value, &x)
	if x.PackageName != "" {
		return Requirement{Package: x.PackageName, Range: x.VersionRange}, err
	}
	return Requirement{API: x.GVK.String()}, err
}

// resourceOf is the resource name of a Kubernetes API, if it follows from the kind.
func resourceOf(api catalog.GVK) string {
	name := strings.ToLower(api.Kind)
	switch {
	case strings.HasSuffix(name, "y"):
		name = strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"):
		name += "es"
	default:
		name += "s"
	}
	return strings.TrimSuffix(name+"."+api.Version+"."+api.Group, ".")
}

// APIRequestCount says who used an API recently, as counted by OpenShift's API server.
type APIRequestCount = snapshot.APIRequestCount

// ReadRemoved returns the APIs that will be removed, with who used them in the last 24
// hours, by name. Components that list every API, to collect garbage or to delete a
// namespace, are left out.
func ReadRemoved(counts []APIRequestCount) []RemovedAPI {
	list := []RemovedAPI{}
	for i := range counts {
		c := &counts[i]
		if c.Status.RemovedInRelease == "" {
			continue
		}
		a := RemovedAPI{API: c.Name, In: c.Status.RemovedInRelease}
		for _, hour := range append([]snapshot.Requests{c.Status.CurrentHour}, c.Status.Last24h...) {
			for _, n := range hour.ByNode {
				for _, u := range n.ByUser {
					if !asksForAll(u.UserName) {
						a.Users = append(a.Users, u.UserName)
					}
				}
			}
		}
		slices.Sort(a.Users)
		a.Users = slices.Compact(a.Users)
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b RemovedAPI) int { return strings.Compare(a.API, b.API) })
	return list
}

// asksForAll reports whether a user is one of the components that list every API.
func asksForAll(user string) bool {
	switch user {
	case "system:serviceaccount:kube-system:generic-garbage-collector", "system:serviceaccount:kube-system:namespace-controller",
		"system:serviceaccount:kube-system:resourcequota-controller", "system:kube-controller-manager", "system:cluster-policy-controller", "system:apiserver":
		return true
	}
	return strings.HasPrefix(user, "system:serviceaccount:openshift-kube-storage-version-migrator:")
}
