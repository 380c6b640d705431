package situation_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/samples"
)

// Each recorded cluster has a plan to its goal, or a reason why there is none with fixes that
// were tried; each plan is played and ends as planned.
func TestRecorded(t *testing.T) {
	dir := samples.Data(t, "updates", "status")
	clusters, err := filepath.Glob(filepath.Join(dir, "*-cv.yaml"))
	if err != nil || len(clusters) == 0 {
		t.Skip("no clusters are recorded", err)
	}
	planned := 0
	for _, one := range clusters {
		prefix := strings.TrimSuffix(one, "cv.yaml")
		name := strings.TrimSuffix(filepath.Base(prefix), "-")
		s := situationOf(t, func(r *snapshot.Reader) error {
			for _, kind := range []string{"cv", "co", "mcp", "mc", "node"} {
				f, err := os.Open(prefix + kind + ".yaml")
				if err == nil {
					err = errors.Join(r.Stream(f, f.Name()), f.Close())
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		goal := &plan.Goal{Release: s.Cluster.Status.Desired.Version}
		p, err := plan.Make(t.Context(), &s.Situation, goal, nil)
		var none *plan.NoPlanError
		switch {
		case errors.As(err, &none) && len(none.Fixes) > 0:
			t.Logf("%s: %v", name, none)
			continue
		case err != nil:
			t.Errorf("%s: %v", name, err)
			continue
		}
		planned++
		got, err := plan.Play(t.Context(), &s.Situation, goal, nil, p, nil)
		if err != nil || !got.Done || got.Replans > 0 || len(got.Restarts) != p.Cost.Restarts {
			t.Errorf("%s: %v\n%v\n%v", name, err, p, got)
		}
	}
	if planned == 0 || planned == len(clusters) {
		t.Errorf("%d of %d have a plan", planned, len(clusters))
	}
}
