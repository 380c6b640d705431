package install

import (
	"fmt"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// fits reports whether the operators that a plan installs support what the
// namespace's operator group selects. One that does not would fail as soon as it is
// installed, and an update would take away a version that works.
func (s *stepper) fits(seen *InstallPlan) bool {
	if s.own == nil {
		return true // that is reported already
	}
	ok := true
	for i := range seen.Status.Plan {
		step := &seen.Status.Plan[i]
		if stageOf(&step.Resource) != 0 || s.csvs[step.Resource.Name] != nil {
			continue
		}
		csv, err := decodeCSV([]byte(step.Resource.Manifest))
		if err != nil || len(s.own.Status.Namespaces) == 0 {
			continue // the CSV fails, and says why
		}
		if err := csv.Spec.InstallModes.Supports(s.Namespace, s.own.Status.Namespaces); err != nil {
			s.block(planSubject(s.state.Plan), string(group.ReasonUnsupportedOperatorGroup), fmt.Sprintf("%s does not fit operator group %s: %v", csv.Name, s.own.Name, err),
				"whoever owns the operator groups", "correct the operator group, or choose another version; nothing of the plan is applied until then")
			ok = false
		}
	}
	return ok
}
