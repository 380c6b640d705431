package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// Update returns what the status of a subscription must be:
//
//  1. Conditions: CatalogSourcesUnhealthy is always set, except with
//     Facts.CatalogsUnknown; the others are set only while they are true. A
//     condition keeps its transition time while its status does not change.
//     Conditions of other types are kept.
//  2. The plan: InstallPlanMissing if the status refers to one that does not
//     exist. If the subscription waits for that plan, the reference is removed
//     instead, with the CSV that the plan was to install, so that the namespace
//     is resolved again.
//  3. State: UpgradeFailed while the plan has failed; none if no CSV was chosen;
//     UpgradePending while the chosen CSV does not exist; otherwise
//     UpgradeAvailable if a newer one is known, and AtLatestKnown if not. Once
//     the chosen CSV exists it counts as installed.
//  4. The health of the catalogs, by namespace and name.
//
// LastUpdated changes only if something else does. The arguments are not
// modified.
func Update(sub *resource.Subscription, facts *Facts, now time.Time) resource.SubscriptionStatus {
	u := update{now: now, out: sub.Status}
	u.out.Conditions = slices.Clone(sub.Status.Conditions)
	if !facts.CatalogsUnknown {
		u.catalogs(sub, facts)
	}
	u.resolution(facts)
	u.unpacking(facts)
	u.deprecations(sub, facts)
	u.plan(facts)
	u.state(facts)
	if !u.out.Equal(&sub.Status) {
		u.out.LastUpdated = now
	}
	return u.out
}

type update struct {
	now time.Time
	out resource.SubscriptionStatus
}

func (u *update) set(kind string, holds fairlead.ConditionStatus, reason, message string) {
	u.out.Conditions = fairlead.SetCondition(u.out.Conditions, resource.Condition{
		Type: kind, Status: holds, LastTransitionTime: u.now, Reason: reason, Message: message,
	})
}

func (u *update) clear(kinds ...string) {
	u.out.Conditions = slices.DeleteFunc(u.out.Conditions, func(c resource.Condition) bool { return slices.Contains(kinds, c.Type) })
}

func (u *update) catalogs(sub *resource.Subscription, facts *Facts) {
	old := u.out.CatalogHealth
	seen := slices.Clone(facts.Catalogs)
	slices.SortFunc(seen, func(a, b resource.CatalogHealth) int {
		return cmp.Or(strings.Compare(a.Source.Namespace, b.Source.Namespace), strings.Compare(a.Source.Name, b.Source.Name))
	})
	u.out.CatalogHealth = seen
	var ill []string
	missing := sub.Spec.Source != ""
	for _, h := range seen {
		if h.Source.Name == sub.Spec.Source && h.Source.Namespace == sub.Spec.SourceNamespace {
			missing = false
		}
		if !h.Healthy {
			ill = append(ill, h.Source.String())
		}
	}
	target := resource.SourceKey{Name: sub.Spec.Source, Namespace: sub.Spec.SourceNamespace}
	switch {
	case missing:
		u.set(CatalogSourcesUnhealthy, fairlead.ConditionTrue, ReasonUnhealthyCatalog,
			fmt.Sprintf("the subscription's catalog %s is missing; create it, or correct spec.source and spec.sourceNamespace", target))
	case len(seen) == 0:
		u.set(CatalogSourcesUnhealthy, fairlead.ConditionTrue, ReasonNoCatalogs,
			"no catalog is visible in the namespace; create one in it or in the global namespace")
	case ill != nil:
		u.set(CatalogSourcesUnhealthy, fairlead.ConditionTrue, ReasonUnhealthyCatalog,
			fmt.Sprintf("unhealthy: %s; fix or delete them: nothing is installed or updated until then", strings.Join(ill, ", ")))
	default:
		u.set(CatalogSourcesUnhealthy, fairlead.ConditionFalse, healthReason(old, seen), textAllHealthy)
	}
}

// healthReason says how the healthy catalogs differ from what was known.
func healthReason(old, seen []resource.CatalogHealth) string {
	switch {
	case slices.Equal(old, seen):
		return ReasonAllHealthy
	case len(seen) > len(old):
		return ReasonCatalogsAdded
	case len(seen) < len(old):
		return ReasonCatalogsDeleted
	}
	return ReasonCatalogsUpdated
}

func (u *update) resolution(facts *Facts) {
	if facts.Resolution == nil {
		u.clear(ResolutionFailed)
		return
	}
	u.set(ResolutionFailed, fairlead.ConditionTrue, facts.Resolution.Reason, facts.Resolution.Message)
}

func (u *update) unpacking(facts *Facts) {
	u.report(BundleUnpacking, reasonUnpacking, facts.Bundles, func(b Unpack) bool { return b.Reason == "" })
	reason := ""
	for _, b := range facts.Bundles {
		reason = cmp.Or(reason, b.Reason)
	}
	u.report(BundleUnpackFailed, reason, facts.Bundles, func(b Unpack) bool { return b.Reason != "" })
}

func (u *update) report(kind, reason string, bundles []Unpack, counts func(Unpack) bool) {
	var texts []string
	for _, b := range bundles {
		if !counts(b) {
			continue
		}
		text := b.Bundle
		if b.Message != "" {
			text += ": " + b.Message
		}
		texts = append(texts, text)
	}
	if texts == nil {
		u.clear(kind)
		return
	}
	u.set(kind, fairlead.ConditionTrue, reason, strings.Join(texts, "; "))
}

func (u *update) deprecations(sub *resource.Subscription, facts *Facts) {
	kinds := []struct{ schema, kind string }{
		{"olm.package", PackageDeprecated}, {"olm.channel", ChannelDeprecated}, {"olm.bundle", BundleDeprecated},
	}
	var all []string
	for _, k := range kinds {
		var texts []string
		for _, d := range facts.Deprecations {
			if d.Reference.Schema == k.schema {
				texts = append(texts, d.Message)
				all = append(all, fmt.Sprintf("%s/%s: %s", d.Reference.Schema, cmp.Or(d.Reference.Name, sub.Spec.Package), d.Message))
			}
		}
		u.deprecated(k.kind, texts)
	}
	u.deprecated(Deprecated, all)
}

func (u *update) deprecated(kind string, texts []string) {
	if texts == nil {
		u.clear(kind)
		return
	}
	u.set(kind, fairlead.ConditionTrue, reasonDeprecated, strings.Join(texts, "; "))
}

func (u *update) plan(facts *Facts) {
	ref, plan := u.out.InstallPlanRef, facts.Plan
	switch {
	case ref == nil, plan != nil && plan.Phase == phaseComplete:
		u.clear(InstallPlanMissing, InstallPlanPending, InstallPlanFailed)
	case plan == nil && u.out.State == resource.StateUpgradePending:
		u.clear(InstallPlanMissing, InstallPlanPending, InstallPlanFailed)
		u.out.InstallPlanRef = nil
		u.out.CurrentCSV = u.out.InstalledCSV
	case plan == nil:
		u.clear(InstallPlanPending, InstallPlanFailed)
		u.set(InstallPlanMissing, fairlead.ConditionTrue, ReasonPlanNotFound,
			fmt.Sprintf("install plan %s does not exist", ref.Name))
	case plan.Phase == phaseFailed:
		u.clear(InstallPlanMissing, InstallPlanPending)
		u.set(InstallPlanFailed, fairlead.ConditionTrue, cmp.Or(plan.Reason, ReasonPlanFailed), plan.Message)
	default:
		u.clear(InstallPlanMissing, InstallPlanFailed)
		message := fmt.Sprintf("install plan %s is under way", ref.Name)
		if plan.Phase == phaseRequiresApproval {
			message = fmt.Sprintf("install plan %s waits for approval; set its spec.approved to true", ref.Name)
		}
		u.set(InstallPlanPending, fairlead.ConditionTrue, cmp.Or(plan.Phase, ReasonPlanNotYetReconciled), message)
	}
}

func (u *update) state(facts *Facts) {
	there := slices.Contains(facts.CSVs, u.out.CurrentCSV)
	if there {
		u.out.InstalledCSV = u.out.CurrentCSV
	}
	switch {
	case u.out.InstallPlanRef != nil && facts.Plan != nil && facts.Plan.Phase == phaseFailed:
		u.out.State = resource.StateUpgradeFailed
	case u.out.CurrentCSV == "":
		u.out.State = resource.StateNone
	case !there:
		u.out.State = resource.StateUpgradePending
	case facts.Next != "" && facts.Next != u.out.CurrentCSV:
		u.out.State = resource.StateUpgradeAvailable
	default:
		u.out.State = resource.StateAtLatestKnown
	}
}
