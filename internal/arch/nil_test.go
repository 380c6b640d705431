package arch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/quorum"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/taints/eviction"
)

// TestNoBackend: no engine has a Runner without a Backend.
func TestNoBackend(t *testing.T) {
	of := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"cvo": of(cvo.NewRunner(nil, nil, nil)), "plan": of(plan.NewRunner(nil, nil, nil)), "rollout": of(rollout.NewRunner(nil, nil, nil)),
		"lifecycle": of(lifecycle.NewRunner(nil, nil, nil)), "drain": of(drain.NewRunner(nil, nil, nil)), "quorum": of(quorum.NewRunner(nil, nil, nil)),
		"eviction": of(eviction.NewRunner(nil, nil, nil)), "extension": of(extension.NewRunner(nil, nil, nil, nil)), "install": of(install.NewRunner(nil, nil, nil, nil)),
	} {
		if err == nil {
			err = errors.New("none")
		}
		if !strings.Contains(err.Error(), "Backend") {
			t.Errorf("%s: error %v, want one that names the Backend", name, err)
		}
	}
}
