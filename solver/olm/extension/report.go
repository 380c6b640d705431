package extension

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
)

// report writes the status of the extension.
func (s *stepper) report() {
	is := &s.x.Status
	next := Status{Conditions: is.Conditions}
	if r := s.installed; r != nil {
		next.Install = &Installed{Bundle: r.bundle()}
		next.ActiveRevisions = append(next.ActiveRevisions, ActiveRevision{Name: r.Name})
	}
	for _, r := range s.rolling {
		next.ActiveRevisions = append(next.ActiveRevisions, ActiveRevision{Name: r.Name, Conditions: r.mirrored()})
	}
	for _, c := range slices.Concat([]fairlead.Condition{s.installedCondition(), s.progressing()}, s.available(), s.deprecated()) {
		c.ObservedGeneration = s.x.Generation
		next.Conditions = s.set(next.Conditions, c)
	}
	if !equal(next, *is) {
		message := s.doing(UpdateStatus{s.x.ResourceVersion, next}, "its status is not observed yet")
		s.wait(s.subject()+" status", ReasonPending, message, theBackend, "wait until its status is observed")
	}
}

// mirrored are the conditions of a revision that an extension shows.
func (r *Revision) mirrored() []fairlead.Condition {
	return slices.DeleteFunc(slices.Clone(r.Status.Conditions), func(c fairlead.Condition) bool { return c.Type == TypeSucceeded })
}

func (s *stepper) installedCondition() fairlead.Condition {
	c := fairlead.Condition{Type: TypeInstalled, Status: fairlead.ConditionFalse, Reason: "Failed", Message: "No bundle installed"}
	switch {
	case s.installed != nil:
		c.Status, c.Reason = fairlead.ConditionTrue, "Succeeded"
		c.Message = "Installed bundle " + s.installed.Annotations[ReferenceAnnotation] + " successfully"
	case len(s.rolling) > 0 && s.trouble == nil && !s.late(s.latest):
		c.Reason = "Absent" // it is on its way
	}
	return c
}

func (s *stepper) progressing() fairlead.Condition {
	c := fairlead.Condition{Type: TypeProgressing, Status: fairlead.ConditionTrue, Reason: "Succeeded", Message: "Desired state reached"}
	switch t := s.trouble; {
	case t != nil && t.final:
		c.Status, c.Reason, c.Message = fairlead.ConditionFalse, t.reason, t.message
	case t != nil:
		c.Reason, c.Message = "Retrying", t.message
	case s.latest != nil && s.latest != s.installed:
		if p := fairlead.FindCondition(s.latest.Status.Conditions, TypeProgressing); p != nil {
			return *p
		}
		c.Reason, c.Message = "RollingOut", "Revision "+s.latest.bundle().Version+" is rolling out."
	case s.latest == nil:
		c.Reason, c.Message = "RollingOut", "the first revision is on its way"
	}
	return c
}

// available is the condition of the installed revision.
func (s *stepper) available() []fairlead.Condition {
	if s.installed != nil {
		if c := fairlead.FindCondition(s.installed.Status.Conditions, TypeAvailable); c != nil {
			return []fairlead.Condition{*c}
		}
	}
	return nil
}

// deprecated are the four conditions about deprecations in catalogs.
func (s *stepper) deprecated() []fairlead.Condition {
	kinds := []string{TypePackageDeprecated, TypeChannelDeprecated, TypeBundleDeprecated}
	texts := make([][]string, len(kinds))
	known := s.Answer != nil && s.Answer.Known
	if known {
		for _, d := range s.Answer.Deprecations {
			if i := s.concerns(d); i >= 0 {
				texts[i] = append(texts[i], d.Message)
			}
		}
	}
	condition := func(kind, what string, texts []string) fairlead.Condition {
		switch {
		case !known:
			return fairlead.Condition{Type: kind, Status: fairlead.ConditionUnknown, Reason: "DeprecationStatusUnknown", Message: "deprecation status unknown: catalog data unavailable"}
		case len(texts) > 0:
			return fairlead.Condition{Type: kind, Status: fairlead.ConditionTrue, Reason: "Deprecated", Message: strings.Join(texts, "\n")}
		}
		return fairlead.Condition{Type: kind, Status: fairlead.ConditionFalse, Reason: "NotDeprecated", Message: what + "not deprecated"}
	}
	all := []fairlead.Condition{condition(TypeDeprecated, "", slices.Concat(texts...))}
	for i, what := range []string{"package ", "channel ", "bundle "} {
		all = append(all, condition(kinds[i], what, texts[i]))
	}
	if s.installed == nil {
		all[3] = fairlead.Condition{Type: TypeBundleDeprecated, Status: fairlead.ConditionUnknown, Reason: "Absent", Message: "no bundle installed yet"}
	}
	return all
}

// concerns returns which of the three conditions a deprecation is for: package,
// channel or bundle; -1 for none. If no channel is requested, any channel
// counts.
func (s *stepper) concerns(d catalog.Deprecation) int {
	f := s.x.Spec.Source.Catalog
	switch {
	case d.Reference.Schema == catalog.SchemaPackage:
		return 0
	case d.Reference.Schema == catalog.SchemaChannel && (f == nil || len(f.Channels) == 0 || slices.Contains(f.Channels, d.Reference.Name)):
		return 1
	case d.Reference.Schema == catalog.SchemaBundle && s.installed != nil && s.installed.bundle().Name == d.Reference.Name:
		return 2
	}
	return -1
}
