package cvo_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
)

// The rows of TestUpgradeableRun that are about one of several preconditions
// alone, and the row of TestRollbackRun and of TestRecommendedUpdate that are
// about more than versions.
func TestPreconditionRows(t *testing.T) {
	const build = "4.17.0-0.test-2024-10-07-173400-ci-ln-pwn9ngk-latest"
	for _, c := range []struct {
		row, check, current, target, history string
		upgradeable                          cvo.ConditionStatus
		want                                 string
	}{
		{"downgrade z", cvo.CheckUpgradeable, "4.16.3", "4.16.1", "4.16.3", "", ""},
		{"downgrade z with Upgradeable=False", cvo.CheckUpgradeable, "4.16.3", "4.16.1", "4.16.3", cvo.False, ""},
		{"downgrade y", cvo.CheckUpgradeable, "4.16.1", "4.15.3", "4.16.1", "", ""},
		{"downgrade y with Upgradeable=False", cvo.CheckUpgradeable, "4.16.1", "4.15.3", "4.16.1", cvo.False, ""},
		{"move to y+2 directly", cvo.CheckUpgradeable, "4.16.1", "4.18.3", "4.16.1", "", ""},
		{"move to y+2 directly with Upgradeable=False", cvo.CheckUpgradeable, "4.16.1", "4.18.3", "4.16.1", cvo.False, "Because"},
		{"cluster-bot build to release candidate", cvo.CheckUpgradeable, build, "4.17.0-rc.6", build, "", ""},
		{"cluster-bot build to release candidate with Upgradeable=False", cvo.CheckUpgradeable, build, "4.17.0-rc.6", build, cvo.False, ""},
		{"move-x-then-z, with false condition", cvo.CheckUpgradeable, "5.0.1", "5.0.3", "5.0.1p 4.1.1", cvo.False, "[MajorVersionClusterUpdateInProgress]"},
		{"move-y-then-z, with false condition", cvo.CheckUpgradeable, "4.2.1", "4.2.3", "4.2.1p 4.1.1", cvo.False, "[MinorVersionClusterUpdateInProgress]"},
		{"move-z-then-z, with false condition", cvo.CheckUpgradeable, "4.2.2", "4.2.3", "4.2.2p 4.2.1", cvo.False, ""},
		{"rollback to previous completed with intermediate partial", cvo.CheckRollback, "1.0.2", "1.0.0", "1.0.2p 1.0.1p 1.0.0", "", "LowDesiredVersion"},
		{"rollback to previous in an earlier minor release", cvo.CheckRollback, "2.0.0", "1.0.0", "2.0.0 1.0.0", "", "LowDesiredVersion"},
	} {
		cv := &cvo.ClusterVersion{}
		cv.Status.Desired = cvo.Release{Version: c.current, Image: "image-" + c.current}
		cv.Status.History = history(c.history)
		if c.upgradeable != "" {
			cv.Status.Conditions = []cvo.Condition{{Type: "Upgradeable", Status: c.upgradeable, Reason: "Because", Message: "of something"}}
		}
		if got := reasons(cv, cvo.Release{Version: c.target, Image: "image-" + c.target}, c.check); got != c.want {
			t.Errorf("%s: %s, not %s", c.row, got, c.want)
		}
	}

	// Rollback to previous completed with intermediate image change: what is before
	// is the same version as an image for one architecture.
	cv := &cvo.ClusterVersion{}
	cv.Status.Desired = cvo.Release{Version: "1.0.1", Image: "multi-arch"}
	cv.Status.History = history("1.0.1 1.0.1 1.0.0")
	cv.Status.History[0].Image, cv.Status.History[1].Image = "multi-arch", "single-arch"
	for version, want := range map[string]string{"1.0.0": "LowDesiredVersion", "1.0.1": ""} {
		if got := reasons(cv, cvo.Release{Version: version}, cvo.CheckRollback); got != want {
			t.Errorf("rollback to %s with intermediate image change: %s, not %s", version, got, want)
		}
	}

	// The previous version, and another image of it.
	for image, want := range map[string]string{"single-arch": "", "": "", "third": "LowDesiredVersion"} {
		cv := &cvo.ClusterVersion{}
		cv.Status.Desired = cvo.Release{Version: "1.0.1", Image: "one"}
		cv.Status.History = history("1.0.1 1.0.0")
		cv.Status.History[0].Image, cv.Status.History[1].Image = "one", "single-arch"
		if got := reasons(cv, cvo.Release{Version: "1.0.0", Image: image}, cvo.CheckRollback); got != want {
			t.Errorf("rollback to image %q of the previous version: %s, not %s", image, got, want)
		}
	}

	// Unknown condition type.
	cv.Status.ConditionalUpdates = []cvo.ConditionalUpdate{{
		Release: cvo.Release{Version: "1.0.2"}, Conditions: []cvo.Condition{{Type: "Unknown", Status: cvo.True, Reason: "NotUsed"}},
	}}
	if got := reasons(cv, cvo.Release{Version: "1.0.2"}, cvo.CheckRecommended); got != "[UnknownConditionType]" {
		t.Errorf("unknown condition type: %s", got)
	}
}

// reasons returns what one precondition says, warnings in brackets.
func reasons(cv *cvo.ClusterVersion, target cvo.Release, check string) string {
	var got []string
	for _, p := range cvo.Preconditions(cv, target) {
		switch {
		case p.Name != check:
		case p.Warning:
			got = append(got, "["+p.Reason+"]")
		default:
			got = append(got, p.Reason)
		}
	}
	return strings.Join(got, " ")
}
