package graph

import "testing"

// The rows of the operator's Test_newRecommendedReason: what a reason becomes
// when a risk adds another one.
func TestReasons(t *testing.T) {
	for _, c := range []struct{ now, and, want string }{
		{ReasonNotExposed, ReasonAccepted, ReasonAccepted},
		{ReasonNotExposed, ReasonEvaluation, ReasonEvaluation},
		{ReasonNotExposed, ReasonMultiple, ReasonMultiple},
		{ReasonNotExposed, ReasonExposed, ReasonExposed},
		{ReasonAccepted, ReasonNotExposed, ReasonAccepted},
		{ReasonAccepted, ReasonEvaluation, ReasonEvaluation},
		{ReasonAccepted, ReasonMultiple, ReasonMultiple},
		{ReasonAccepted, ReasonExposed, ReasonExposed},
		{ReasonEvaluation, ReasonNotExposed, ReasonEvaluation},
		{ReasonEvaluation, ReasonAccepted, ReasonEvaluation},
		{ReasonEvaluation, ReasonMultiple, ReasonMultiple},
		{ReasonEvaluation, ReasonExposed, ReasonExposed},
		{ReasonMultiple, ReasonNotExposed, ReasonMultiple},
		{ReasonMultiple, ReasonAccepted, ReasonMultiple},
		{ReasonMultiple, ReasonEvaluation, ReasonMultiple},
		{ReasonMultiple, ReasonExposed, ReasonMultiple},
		{ReasonExposed, ReasonNotExposed, ReasonExposed},
		{ReasonExposed, ReasonAccepted, ReasonExposed},
		{ReasonExposed, ReasonEvaluation, ReasonExposed},
		{ReasonExposed, ReasonMultiple, ReasonMultiple},
	} {
		if got := stronger(c.now, c.and); got != c.want {
			t.Errorf("%s and %s: %s, not %s", c.now, c.and, got, c.want)
		}
	}
}

// The reason of several risks does not depend on their order.
func TestReasonsInAnyOrder(t *testing.T) {
	all := []string{ReasonNotExposed, ReasonAccepted, ReasonEvaluation, ReasonExposed, ReasonMultiple, "RiskA", "RiskB"}
	for _, a := range all {
		for _, b := range all {
			if stronger(a, b) != stronger(b, a) {
				t.Errorf("%s and %s: %s, and the other way round %s", a, b, stronger(a, b), stronger(b, a))
			}
			for _, c := range all {
				if x, y := stronger(stronger(a, b), c), stronger(a, stronger(b, c)); x != y {
					t.Errorf("%s, %s, %s: %s or %s", a, b, c, x, y)
				}
			}
		}
	}
}
