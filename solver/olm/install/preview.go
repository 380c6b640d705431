package install

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// Preview says what an install plan would add to a cluster: what to check before
// approving it.
type Preview struct {
	Plan      string            `json:"plan"`      // its name
	Operators []OperatorPreview `json:"operators"` // in plan order
}

// OperatorPreview is what one operator of a plan adds compared with the one that
// it replaces; if it replaces none, everything is new.
type OperatorPreview struct {
	CSV      string `json:"csv"`                // its name
	Replaces string `json:"replaces,omitempty"` // the operator that it replaces, if any
	// Permissions are the new permissions, by account; first those in the whole
	// cluster.
	Permissions []PermissionPreview `json:"permissions,omitempty"`
	CRDs        []CRDPreview        `json:"crds,omitempty"`     // that the plan creates or changes, in plan order
	Images      []string            `json:"images,omitempty"`   // new ones of its deployments, sorted
	Webhooks    []string            `json:"webhooks,omitempty"` // new ones, in words, in the order of the CSV
	// NoRollback says why rolling back to Replaces will be impossible; empty if
	// nothing is known to prevent it.
	NoRollback []string `json:"noRollback,omitempty"`
}

// PermissionPreview are permissions of a service account.
type PermissionPreview struct {
	Account string `json:"account"` // its name
	Cluster bool   `json:"cluster"` // in the whole cluster, not only where the operator watches
	// Rules are of one group and resource (or URL) each.
	Rules []fairlead.PolicyRule `json:"rules"`
	// More means that there are more than were compared.
	More bool `json:"more,omitempty"`
}

// CRDPreview is the change to a CRD.
type CRDPreview struct {
	Name string `json:"name"` // the CRD's
	New  bool   `json:"new"`  // it does not exist yet
	// Risks are what the change would break: the plan does not start while there
	// is one. Warnings would be risks if no webhook converted.
	Risks    []string `json:"risks,omitempty"`
	Warnings []string `json:"warnings,omitempty"` // see Risks
}

// Preview says what a plan would add:
//
//  1. Permissions that the replaced operator does not have: which verbs on which
//     resources, for which account. Cluster-wide permissions of the replaced
//     operator also count for namespaces.
//  2. CRDs that are created or changed, and what that would break.
//  3. New images of deployments, and new webhooks.
//  4. Whether a rollback is possible: not if a CRD would store objects in a
//     version that the previous operator does not know. To roll back, uninstall,
//     and subscribe with startingCSV and approval Manual.
//
// The error says that there is no such plan, or that one of its CSVs cannot be
// read.
func (w *World) Preview(plan string) (*Preview, error) {
	p := w.plan(plan)
	if p == nil {
		return nil, fmt.Errorf("install plan %s is not in namespace %s", plan, w.Namespace)
	}
	x := newIndex(w)
	s := &stepper{World: w, index: x, groups: w.operatorGroups()}
	out := &Preview{Plan: plan}
	for i := range p.Status.Plan {
		step := &p.Status.Plan[i]
		if stageOf(&step.Resource) != 0 {
			continue
		}
		next, err := decodeCSV([]byte(step.Resource.Manifest))
		if err != nil {
			return nil, fmt.Errorf("install plan %s: CSV %s: %w", plan, step.Resource.Name, err)
		}
		o := OperatorPreview{CSV: next.Name}
		was := &olm.ClusterServiceVersion{}
		if old := x.csvs[next.Spec.Replaces]; old != nil {
			o.Replaces, was = old.Name, &old.ClusterServiceVersion
		}
		o.Permissions = newPermissions(was, &next)
		o.Images = newImages(was, &next)
		o.Webhooks = newWebhooks(was, &next)
		for k := range p.Status.Plan {
			if c := &p.Status.Plan[k]; c.Resolving == next.Name && stageOf(&c.Resource) == 1 {
				o.definition(s, p, c)
			}
		}
		out.Operators = append(out.Operators, o)
	}
	return out, nil
}

// newPermissions are those that a CSV has and the previous one does not.
func newPermissions(was, is *olm.ClusterServiceVersion) []PermissionPreview {
	var all []PermissionPreview
	rules := func(list []group.Permission, account string) []fairlead.PolicyRule {
		var found []fairlead.PolicyRule
		for _, p := range list {
			if p.ServiceAccountName == account {
				found = append(found, p.Rules...)
			}
		}
		return found
	}
	old, now := &was.Spec.Install.Spec, &is.Spec.Install.Spec
	for _, part := range []struct {
		cluster bool
		list    []group.Permission
	}{{true, now.ClusterPermissions}, {false, now.Permissions}} {
		var accounts []string
		for _, p := range part.list {
			accounts = append(accounts, p.ServiceAccountName)
		}
		slices.Sort(accounts)
		for _, account := range slices.Compact(accounts) {
			have := rules(old.ClusterPermissions, account)
			if !part.cluster {
				have = append(have, rules(old.Permissions, account)...)
				have = append(have, rules(now.ClusterPermissions, account)...) // already reported
			}
			missing, more := scope.Missing(have, rules(part.list, account))
			if len(missing) > 0 || more {
				all = append(all, PermissionPreview{Account: account, Cluster: part.cluster, Rules: joined(missing), More: more})
			}
		}
	}
	return all
}

// joined merges rules for one resource, or URL, into one rule.
func joined(single []fairlead.PolicyRule) []fairlead.PolicyRule {
	var all []fairlead.PolicyRule
	for _, r := range single {
		i := slices.IndexFunc(all, func(o fairlead.PolicyRule) bool {
			return slices.Equal(o.APIGroups, r.APIGroups) && slices.Equal(o.Resources, r.Resources) &&
				slices.Equal(o.ResourceNames, r.ResourceNames) && slices.Equal(o.NonResourceURLs, r.NonResourceURLs)
		})
		if i < 0 {
			all = append(all, r)
			continue
		}
		all[i].Verbs = append(slices.Clip(all[i].Verbs), r.Verbs...)
	}
	return all
}

func newImages(was, is *olm.ClusterServiceVersion) []string {
	old := imagesOf(was)
	return slices.DeleteFunc(imagesOf(is), func(image string) bool { return slices.Contains(old, image) })
}

// imagesOf returns the images of a CSV's deployments, sorted.
func imagesOf(c *olm.ClusterServiceVersion) []string {
	type container struct {
		Image string `json:"image"`
	}
	var images []string
	for _, d := range c.Spec.Install.Spec.Deployments {
		var spec struct {
			Template struct {
				Spec struct {
					InitContainers []container `json:"initContainers"`
					Containers     []container `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		}
		if json.Unmarshal(d.Spec, &spec) != nil {
			continue // it cannot be deployed, and says so then
		}
		for _, each := range slices.Concat(spec.Template.Spec.InitContainers, spec.Template.Spec.Containers) {
			if each.Image != "" {
				images = append(images, each.Image)
			}
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}

// newWebhooks reports webhooks that the previous CSV does not have, or that
// changed.
func newWebhooks(was, is *olm.ClusterServiceVersion) []string {
	var all []string
	for _, w := range is.Spec.WebhookDefinitions {
		same := func(o olm.WebhookDescription) bool {
			return o.Type == w.Type && o.GenerateName == w.GenerateName && string(o.Rules) == string(w.Rules) && slices.Equal(o.ConversionCRDs, w.ConversionCRDs)
		}
		if slices.ContainsFunc(was.Spec.WebhookDefinitions, same) {
			continue
		}
		text := w.Type + " " + w.GenerateName
		var rules []struct {
			Operations, APIGroups, Resources []string
		}
		if json.Unmarshal(w.Rules, &rules) == nil {
			for _, r := range rules {
				text += fmt.Sprintf(", %s of %s", strings.Join(r.Operations, " and "), strings.Join(r.Resources, " and "))
				if g := strings.Join(r.APIGroups, " and "); g != "" {
					text += " in " + g
				}
			}
		}
		if len(w.ConversionCRDs) > 0 {
			text += ", converts " + strings.Join(w.ConversionCRDs, " and ")
		}
		if cmp.Or(w.FailurePolicy, "Fail") == "Fail" && w.Type != olm.WebhookConversion {
			text += "; while its pods do not answer, such requests are rejected"
		}
		all = append(all, text)
	}
	return all
}

// definition adds the change to a CRD of the plan.
func (o *OperatorPreview) definition(s *stepper, p *InstallPlan, step *PlanStep) {
	next, err := decodeDefinition([]byte(step.Resource.Manifest))
	if err != nil {
		o.CRDs = append(o.CRDs, CRDPreview{Name: step.Resource.Name, Risks: []string{err.Error()}})
		return
	}
	old := s.crds[step.Resource.Name]
	if old == nil {
		o.CRDs = append(o.CRDs, CRDPreview{Name: step.Resource.Name, New: true})
		return
	}
	if old.Digest == stepDigest(step) {
		return
	}
	c := CRDPreview{Name: old.Name}
	v := crd.Replace(&old.Definition, next, s.owners(old.Name)+s.joining(p, step.Resolving), resources(s.Resources), crd.Structural{}, nil)
	for _, problem := range v.Problems {
		c.Risks = append(c.Risks, problem.Text)
	}
	for _, problem := range v.Warnings {
		c.Warnings = append(c.Warnings, problem.Text)
	}
	o.CRDs = append(o.CRDs, c)
	if o.Replaces == "" {
		return
	}
	after := *next
	after.Status.StoredVersions = slices.Clone(old.Status.StoredVersions)
	for _, version := range next.Spec.Versions {
		if version.Storage && !slices.Contains(after.Status.StoredVersions, version.Name) {
			after.Status.StoredVersions = append(after.Status.StoredVersions, version.Name)
		}
	}
	for _, problem := range crd.Replace(&after, &old.Definition, 1, resources(nil), crd.Structural{}, nil).Problems {
		o.NoRollback = append(o.NoRollback, fmt.Sprintf("CRD %s: objects may then be stored in version %s, which %s does not know", old.Name, problem.Version, o.Replaces))
	}
}

// String returns lines of text: what is new in each operator, and whether it can
// be rolled back.
func (p *Preview) String() string {
	var b strings.Builder
	for _, o := range p.Operators {
		fmt.Fprintf(&b, "%s", o.CSV)
		if o.Replaces != "" {
			fmt.Fprintf(&b, ", in place of %s", o.Replaces)
		}
		b.WriteString("\n")
		for _, a := range o.Permissions {
			where := "where it watches"
			if a.Cluster {
				where = "in the whole cluster"
			}
			for _, r := range a.Rules {
				fmt.Fprintf(&b, "  may now %s, as %s, %s\n", ruleWords(r), a.Account, where)
			}
			if a.More {
				fmt.Fprintf(&b, "  may now more than was compared, as %s, %s\n", a.Account, where)
			}
		}
		for _, c := range o.CRDs {
			what := "changes"
			if c.New {
				what = "creates"
			}
			fmt.Fprintf(&b, "  %s CRD %s\n", what, c.Name)
			for _, text := range c.Risks {
				fmt.Fprintf(&b, "    it would break: %s\n", text)
			}
			for _, text := range c.Warnings {
				fmt.Fprintf(&b, "    it may break: %s\n", text)
			}
		}
		for _, image := range o.Images {
			fmt.Fprintf(&b, "  runs image %s\n", image)
		}
		for _, text := range o.Webhooks {
			fmt.Fprintf(&b, "  registers %s\n", text)
		}
		switch {
		case o.Replaces == "":
		case len(o.NoRollback) > 0:
			for _, text := range o.NoRollback {
				fmt.Fprintf(&b, "  cannot be rolled back to %s: %s\n", o.Replaces, text)
			}
		default:
			fmt.Fprintf(&b, "  to roll back: uninstall it, and subscribe with startingCSV %s and approval Manual\n", o.Replaces)
		}
	}
	return b.String()
}

func ruleWords(r fairlead.PolicyRule) string {
	what := strings.Join(r.Verbs, ", ") + " "
	if len(r.NonResourceURLs) > 0 {
		return what + strings.Join(r.NonResourceURLs, ", ")
	}
	what += strings.Join(r.Resources, ", ")
	if g := strings.Join(r.APIGroups, ", "); g != "" {
		what += " in " + g
	}
	if len(r.ResourceNames) > 0 {
		what += " named " + strings.Join(r.ResourceNames, ", ")
	}
	return what
}
