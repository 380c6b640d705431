package install_test

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// check is told of each change at the backend, and checks what always holds.
func (p *play) check(_ string, a install.Action) {
	w := p.backend.World(ns)
	p.checkAccount(w, a)
	switch a := a.(type) {
	case install.WritePlan:
		p.checkPlan(w, &a.Plan)
	case install.ApplyStep:
		p.checkStep(w, a)
	case install.SetPhase:
		p.checkPhase(a)
	case install.DeletePlan:
		p.Reach("plan dropped")
	case install.DeleteObject:
		p.Reach("object deleted")
	case install.Deploy:
		if old, ok := p.deployed[a.CSV]; ok && old.Digest != a.Digest {
			p.Reach("redeployed")
		}
		p.deployed[a.CSV] = a
	case install.Undeploy:
		p.Reach("undeployed")
	case install.WriteObject:
		if a.Ref.Kind == "ClusterServiceVersion" {
			p.Reach("copied")
		}
	case install.CreateSubscription:
		p.Reach("refreshed")
	case install.ReportUpgradeable:
		if a.Condition.Status == "False" {
			p.Reach("cluster held up")
		}
	case install.DeleteCSV:
		p.Reach("update")
		if c := findCSV(p.before, a.CSV); c.Status.Phase != install.PhaseDeleting {
			p.fail("%s is deleted, and it is %s", a.CSV, c.Status.Phase)
		}
	}
	p.oneOperator(w)
	p.requiredAPIs(w)
}

// checkAccount: what operators bring is written as the account of the group, except CRDs
// and the roles for APIs and groups.
func (p *play) checkAccount(w *install.World, a install.Action) {
	as, limited := "", true
	switch a := a.(type) {
	case install.ApplyStep:
		as, limited = a.As, a.Ref.Kind != "CustomResourceDefinition"
	case install.WriteObject:
		own := strings.HasPrefix(a.Ref.Name, "olm.og.") || strings.Contains(a.Ref.Name, ".g.example-v") && a.Ref.Kind == "ClusterRole"
		as, limited = a.As, !own
	case install.Deploy:
		as = a.As
	case install.IssueCertificate:
		as = a.As
	default:
		return
	}
	want := ""
	if limited {
		want = w.Groups[0].Spec.ServiceAccountName
	}
	if as != want {
		p.fail("%s is written as %q, not as %q", a, as, want)
	}
	if as != "" {
		p.Reach("written as the account")
	}
}

func (p *play) checkPlan(w *install.World, plan *install.InstallPlan) {
	if plan.Status.Phase == install.PlanFailed {
		p.Reach("plan failed")
	}
	if plan.Revision != "" {
		return // only its status
	}
	p.might[plan.Name] = p.mayNow(w)
	p.manual[plan.Name] = slices.ContainsFunc(w.Subscriptions, func(s install.Subscription) bool {
		return s.Spec.InstallPlanApproval == olm.ApprovalManual
	})
	p.approved[plan.Name] = plan.Spec.Approved
	if !plan.Spec.Approved {
		p.Reach("manual plan")
	}
	if len(plan.Spec.ClusterServiceVersionNames) > 1 {
		p.Reach("several at once")
	}
}

// checkStep: each step is applied once, after approval, and stages in order.
func (p *play) checkStep(w *install.World, a install.ApplyStep) {
	key := a.Plan + " " + a.Ref.String()
	if p.applied[key]++; p.applied[key] > 1 {
		p.fail("%s was applied %d times", key, p.applied[key])
	}
	i := slices.IndexFunc(w.Plans, func(x install.InstallPlan) bool { return x.Name == a.Plan })
	if i < 0 || !w.Plans[i].Spec.Approved {
		p.fail("%s was applied, and its plan is not there or not approved", key)
		return
	}
	if p.manual[a.Plan] && w.Plans[i].Spec.Approval != olm.ApprovalManual {
		p.fail("%s was applied without approval, and a subscription is manual", key)
	}
	switch a.Ref.Kind {
	case "ClusterServiceVersion":
		return
	case "CustomResourceDefinition":
		p.checkCRD(w, a)
	}
	for _, s := range w.Plans[i].Status.Plan {
		if s.Resource.Kind == "ClusterServiceVersion" && findCSV(w, s.Resource.Name) == nil {
			p.fail("%s was applied before CSV %s", key, s.Resource.Name)
		}
	}
}

// moves are the changes of phase that there are.
var moves = map[olm.Phase][]olm.Phase{
	install.PhaseNone:         {install.PhasePending, olm.PhaseReplacing},
	install.PhasePending:      {install.PhasePending, install.PhaseInstallReady, olm.PhaseFailed, olm.PhaseReplacing},
	install.PhaseInstallReady: {install.PhaseInstalling, install.PhasePending, olm.PhaseReplacing},
	install.PhaseInstalling:   {olm.PhaseSucceeded, olm.PhaseFailed, install.PhasePending, olm.PhaseReplacing},
	olm.PhaseSucceeded:        {olm.PhaseFailed, install.PhasePending, olm.PhaseReplacing},
	olm.PhaseFailed:           {install.PhasePending, olm.PhaseReplacing},
	olm.PhaseReplacing:        {install.PhaseDeleting, install.PhasePending},
}

func (p *play) checkPhase(a install.SetPhase) {
	c := findCSV(p.before, a.CSV)
	if c == nil {
		p.fail("%s has a phase, and was not there", a.CSV)
		return
	}
	if a.Phase == install.PhaseDeleting && a.Reason == install.ReasonUninstalled {
		p.checkUninstalled(c)
		return
	}
	if !slices.Contains(moves[c.Status.Phase], a.Phase) {
		p.fail("%s went from %q to %q", a.CSV, c.Status.Phase, a.Phase)
	}
	switch a.Phase {
	case olm.PhaseFailed:
		p.Reach("failed")
	case olm.PhaseReplacing:
		if c.Status.Phase == olm.PhaseFailed {
			p.Reach("failed is replaced")
		}
	case olm.PhaseSucceeded:
		p.succeeded[a.CSV] = true
		if missing := p.missingAPI(p.before, c); missing != "" {
			p.fail("%s succeeds without %s", a.CSV, missing)
		}
	case install.PhaseDeleting:
		if !p.relieved(a.CSV) {
			p.fail("%s goes, and nothing that replaces it has succeeded", a.CSV)
		}
	}
}

// oneOperator: of a package there is one operator that nothing replaces.
func (p *play) oneOperator(w *install.World) {
	last := map[string]string{}
	for _, c := range w.CSVs {
		if successor(w, c.Name) != nil {
			continue
		}
		pkg, _, _ := strings.Cut(c.Name, ".v")
		if other := last[pkg]; other != "" {
			p.fail("%s and %s are both installed", other, c.Name)
		}
		last[pkg] = c.Name
	}
}

// requiredAPIs: what an installed operator requires is served and provided.
func (p *play) requiredAPIs(w *install.World) {
	for i := range w.CSVs {
		c := &w.CSVs[i]
		if c.Status.Phase != olm.PhaseSucceeded || successor(w, c.Name) != nil {
			continue
		}
		if missing := p.missingAPI(w, c); missing != "" {
			p.fail("%s is installed and has lost %s", c.Name, missing)
		}
	}
}

// missingAPI returns an API that an operator requires and that is not served,
// or that no operator provides. What somebody else has deleted does not count.
func (p *play) missingAPI(w *install.World, c *install.CSV) string {
	for _, d := range c.Spec.CustomResourceDefinitions.Required {
		served := slices.ContainsFunc(w.CRDs, func(x install.CRD) bool { return x.Name == d.Name && slices.Contains(x.Served(), d.Version) })
		provided := slices.ContainsFunc(w.CSVs, func(x install.CSV) bool {
			return slices.Contains(x.Spec.CustomResourceDefinitions.Owned, d)
		})
		if !served && !p.lost[d.Name] || !provided {
			return d.Name + " " + d.Version
		}
	}
	return ""
}

func findCSV(w *install.World, name string) *install.CSV {
	for i := range w.CSVs {
		if w.CSVs[i].Name == name {
			return &w.CSVs[i]
		}
	}
	return nil
}

func successor(w *install.World, name string) *install.CSV {
	for i := range w.CSVs {
		if w.CSVs[i].Spec.Replaces == name {
			return &w.CSVs[i]
		}
	}
	return nil
}

// relieved reports whether something that replaces a CSV has succeeded. It may
// have failed since.
func (p *play) relieved(name string) bool {
	for range len(p.before.CSVs) {
		next := successor(p.before, name)
		if next == nil {
			return false
		}
		if p.succeeded[next.Name] {
			return true
		}
		name = next.Name
	}
	return false
}
