package diagnose

import (
	"fmt"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// olmKinds are the kinds of OLM's objects that can be explained.
func olmKinds() []string { return explain.Kinds() }

// operator writes what is known of an object of OLM.
func operator(c *args.Call, s *snapshot.Snapshot, v *explain.View, asked, form string) error {
	if v == nil {
		return fmt.Errorf("%s is not in the dump", asked)
	}
	var prevents *diagnosing.Advice
	if len(v.Waits) > 0 {
		prevents = diagnosing.Prevents(s, diagnosing.IDs(diagnosing.Operators(s), v))
	}
	var err error
	if form == "json" {
		err = c.JSON(v)
	} else {
		prevents.Tell(c.Stdout, false)
		err = v.WriteText(c.Stdout)
	}
	if err == nil && (v.Blocked() || prevents.Some()) {
		return args.ErrFindings
	}
	return err
}
