package install

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
)

// conditions reconciles an operator condition for each operator, and reads what
// operators report there.
func (s *stepper) conditions() {
	for _, c := range s.operators {
		if c.Status.Phase == PhaseNone || c.Status.Phase == PhaseDeleting {
			continue
		}
		o := s.condition(c.Name)
		write := WriteCondition{Name: c.Name}
		if o != nil {
			write.Revision, write.Status = o.Revision, o.Observe()
			if slices.Equal(o.Status.Conditions, write.Status.Conditions) {
				continue
			}
		}
		s.block("operatorcondition "+c.Name, ReasonActionPending, s.doing(write, "it is being written"), theBackend, "wait until it is seen")
	}
}

// reportUpgradeable says whether the operators of the namespace block the next
// minor version of the cluster.
func (s *stepper) reportUpgradeable() {
	if s.Version == "" {
		return
	}
	csvs := make([]olm.ClusterServiceVersion, len(s.operators))
	for i, c := range s.operators {
		csvs[i] = c.ClusterServiceVersion
	}
	v, _, err := gate.NextMinor(s.Version, csvs)
	if err != nil {
		s.block("cluster", gate.ReasonIncompatible, err.Error(), "whoever reports the cluster's version", "report a semantic version, such as 4.18.3")
		return
	}
	want := olm.Condition{Type: gate.UpgradeableCondition, Status: fairlead.ConditionTrue, LastTransitionTime: s.now}
	if !v.Open {
		want.Status, want.Reason, want.Message = fairlead.ConditionFalse, v.Reason, v.Message
		s.block("cluster", v.Reason, v.Message, "whoever owns the operators", "update or remove the operators named in this message")
	}
	if old := s.Upgradeable; old != nil && old.Status == want.Status {
		want.LastTransitionTime = old.LastTransitionTime
		if *old == want {
			return
		}
	}
	s.do(ReportUpgradeable{Condition: want})
}
