package cvo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// The rows of TestRollbackRun, TestGiantHopRun, TestUpgradeableRun and
// TestRecommendedUpdate of the operator. A reason in brackets is a warning.
func TestPreconditions(t *testing.T) {
	for _, c := range []struct {
		name, current, target string
		history               string // newest first; p for partial
		upgradeable           cvo.ConditionStatus
		overrides             bool
		want                  string
	}{
		{"no change", "4.2.1", "4.2.1", "4.2.1", "", false, ""},
		{"a patch", "4.2.1", "4.2.2", "4.2.1", "", false, ""},
		{"back to the previous patch", "4.2.2", "4.2.1", "4.2.2 4.2.1", "", false, ""},
		{"back to a partial previous one", "4.2.2", "4.2.1", "4.2.2 4.2.1p 4.2.0", "", false, ""},
		{"back over the previous one", "4.2.2", "4.2.0", "4.2.2 4.2.1 4.2.0", "", false, "LowDesiredVersion"},
		{"back without history", "4.2.2", "4.2.1", "4.2.2", "", false, "LowDesiredVersion"},
		{"back a minor version", "4.2.0", "4.1.5", "4.2.0 4.1.5", "", false, "LowDesiredVersion"},
		{"a minor version", "4.1.0", "4.2.0", "4.1.0", "", false, ""},
		{"two minor versions", "4.1.0", "4.3.0", "4.1.0", "", false, "MultipleMinorVersionsUpdate"},
		{"a major version", "1.9.0", "2.0.0", "1.9.0", "", false, "MajorVersionUpdate"},
		{"from 4 to 5.0", "4.22.0", "5.0.0", "4.22.0", "", false, ""},
		{"from 4 to 5.1", "4.22.0", "5.1.0", "4.22.0", "", false, "MajorVersionUpdate"},
		{"a minor version, not upgradeable", "4.1.0", "4.2.0", "4.1.0", cvo.False, false, "Because"},
		{"a minor version, upgradeable", "4.1.0", "4.2.0", "4.1.0", cvo.True, false, ""},
		{"a minor version, not known", "4.1.0", "4.2.0", "4.1.0", cvo.Unknown, false, ""},
		{"a patch, not upgradeable", "4.1.0", "4.1.1", "4.1.0", cvo.False, false, ""},
		{"a patch, overrides, before 4.12", "4.1.0", "4.1.1", "4.1.0", cvo.False, true, "ClusterVersionOverridesSet"},
		{"a patch, overrides, 4.21", "4.21.9", "4.21.10", "4.21.9", cvo.False, true, "ClusterVersionOverridesSet"},
		{"a patch, overrides, 4.22", "4.22.0", "4.22.1", "4.22.0", cvo.False, true, "[ClusterVersionOverridesSet]"},
		{"a patch, overrides, OKD", "4.20.0-okd-scos.1", "4.20.0-okd-scos.2", "4.20.0-okd-scos.1", cvo.False, true, "ClusterVersionOverridesSet"},
		{"from 4.21 to 5.0", "4.21.0", "5.0.0", "4.21.0", "", false, "MajorVersionUpdate"},
		{"a minor version, overrides", "4.1.0", "4.2.0", "4.1.0", cvo.False, true, "Because"},
		{"a major version, not upgradeable", "4.22.0", "5.0.0", "4.22.0", cvo.False, false, "Because"},
		{"another patch on the way to a minor version", "4.2.0", "4.2.1", "4.2.0p 4.1.0", cvo.False, false, "[MinorVersionClusterUpdateInProgress]"},
		{"another patch on the way to a patch", "4.2.1", "4.2.2", "4.2.1p 4.2.0", cvo.False, false, ""},
		{"a target that is not a version", "4.2.1", "four", "4.2.1", "", false, "InvalidDesiredVersion InvalidDesiredVersion"},
		{"a current version that is none", "four", "4.2.1", "four", "", false, "[InvalidCurrentVersion] [InvalidCurrentVersion]"},
	} {
		cv := &cvo.ClusterVersion{}
		cv.Status.Desired = cvo.Release{Version: c.current, Image: "image-" + c.current}
		cv.Status.History = history(c.history)
		target := cvo.Release{Version: c.target, Image: "image-" + c.target}
		cv.Status.AvailableUpdates = []cvo.Release{target}
		if c.upgradeable != "" {
			cv.Status.Conditions = []cvo.Condition{{Type: "Upgradeable", Status: c.upgradeable, Reason: "Because", Message: "of something"}}
		}
		if c.overrides {
			cv.Spec.Overrides = []payload.Override{{Kind: "Deployment", Name: "a", Unmanaged: true}}
		}
		var got []string
		for _, p := range cvo.Preconditions(cv, target) {
			if p.Warning {
				got = append(got, "["+p.Reason+"]")
			} else {
				got = append(got, p.Reason)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, not %s", c.name, got, c.want)
		}
	}
}

func TestRecommendedPrecondition(t *testing.T) {
	target := cvo.Release{Version: "4.2.0", Image: "two"}
	with := func(conditions ...cvo.Condition) []cvo.ConditionalUpdate {
		return []cvo.ConditionalUpdate{{Release: target, Conditions: conditions}}
	}
	recommended := func(s cvo.ConditionStatus) cvo.Condition {
		return cvo.Condition{Type: "Recommended", Status: s, Reason: "ARisk", Message: "it breaks"}
	}
	for _, c := range []struct {
		name        string
		available   []cvo.Release
		conditional []cvo.ConditionalUpdate
		retrieved   cvo.ConditionStatus
		channel     string
		want        string
	}{
		{"available", []cvo.Release{target}, nil, "", "stable", ""},
		{"nothing is known", nil, nil, "", "stable", "UnknownUpdate"},
		{"the service does not know it", nil, nil, cvo.True, "stable", "UnknownUpdate"},
		{"the service could not be asked", nil, nil, cvo.False, "stable", "UnknownUpdate"},
		{"there is no channel", nil, nil, cvo.False, "", "NoChannel"},
		{"available without a channel", []cvo.Release{target}, nil, "", "", ""},
		{"recommended", nil, with(recommended(cvo.True)), cvo.True, "stable", ""},
		{"not recommended", nil, with(recommended(cvo.False)), cvo.True, "stable", "ARisk"},
		{"not recommended without a channel", nil, with(recommended(cvo.False)), cvo.True, "", "ARisk"},
		{"not evaluated", nil, with(recommended(cvo.Unknown)), cvo.True, "stable", "ARisk"},
		{"no condition", nil, with(), cvo.True, "stable", "UnknownConditionType"},
	} {
		cv := &cvo.ClusterVersion{Spec: cvo.Spec{Channel: c.channel}}
		cv.Status.Desired = cvo.Release{Version: "4.1.0", Image: "one"}
		cv.Status.History = history("4.1.0")
		cv.Status.AvailableUpdates, cv.Status.ConditionalUpdates = c.available, c.conditional
		if c.retrieved != "" {
			cv.Status.Conditions = []cvo.Condition{{Type: "RetrievedUpdates", Status: c.retrieved}}
		}
		got := ""
		for _, p := range cvo.Preconditions(cv, target) {
			if got = p.Reason; !p.Warning {
				t.Errorf("%s: it keeps the update from beginning", c.name)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

// The rows of TestSummarize.
func TestEvaluate(t *testing.T) {
	block := cvo.Precondition{Name: "A", Reason: "Bad", Message: "x"}
	warn := cvo.Precondition{Name: "B", Reason: "Odd", Message: "y", Warning: true}
	const a, b = `Precondition "A" failed because of "Bad": x`, `Precondition "B" failed because of "Odd": y`
	for _, c := range []struct {
		found   []cvo.Precondition
		force   bool
		text    string
		blocked bool
	}{
		{nil, false, "", false},
		{nil, true, "", false},
		{[]cvo.Precondition{block}, false, a, true},
		{[]cvo.Precondition{block}, true, "Forced through blocking failures: " + a, false},
		{[]cvo.Precondition{warn}, false, b, false},
		{[]cvo.Precondition{warn}, true, b, false},
		{[]cvo.Precondition{block, warn}, false, "Multiple precondition checks failed:\n* " + a + "\n* " + b, true},
		{[]cvo.Precondition{block, warn}, true, "Forced through blocking failures: Multiple precondition checks failed:\n* " + a + "\n* " + b, false},
	} {
		if text, blocked := cvo.Evaluate(c.found, c.force); text != c.text || blocked != c.blocked {
			t.Errorf("%v %v: %q %v", c.found, c.force, text, blocked)
		}
	}
}

// What is asked for, and what it comes to (§1.18).
func TestDesire(t *testing.T) {
	current := cvo.Release{Version: "4.1.0", Image: "one"}
	status := cvo.Status{
		Desired: current, History: history("4.1.0 4.0.9"),
		AvailableUpdates: []cvo.Release{{Version: "4.1.1", Image: "two", URL: "u"}, {Version: "4.1.2", Image: "three"}, {Version: "4.1.2", Image: "four"}},
		ConditionalUpdates: []cvo.ConditionalUpdate{
			{Release: cvo.Release{Version: "4.2.0", Image: "five"}, Conditions: []cvo.Condition{{Type: "Recommended", Status: cvo.False}}},
			{Release: cvo.Release{Version: "4.2.1", Image: "six"}, Conditions: []cvo.Condition{{Type: "Recommended", Status: cvo.True}}},
		},
	}
	for _, c := range []struct {
		name string
		ask  *cvo.Update
		want string // image
		bad  string // field at fault
	}{
		{"nothing", nil, "one", ""},
		{"the current version", &cvo.Update{Version: "4.1.0"}, "one", ""},
		{"an available version", &cvo.Update{Version: "4.1.1"}, "two", ""},
		{"an ambiguous version", &cvo.Update{Version: "4.1.2"}, "one", "spec.desiredUpdate.version"},
		{"an unknown version", &cvo.Update{Version: "4.7.0"}, "one", "spec.desiredUpdate.version"},
		{"a version that is none", &cvo.Update{Version: "four", Image: "x"}, "one", "spec.desiredUpdate.version"},
		{"a version that is not recommended", &cvo.Update{Version: "4.2.0"}, "one", "spec.desiredUpdate.version"},
		{"a conditional version that is recommended", &cvo.Update{Version: "4.2.1"}, "six", ""},
		{"a version of the history", &cvo.Update{Version: "4.0.9"}, "image-4.0.9", ""},
		{"an image", &cvo.Update{Image: "x"}, "x", ""},
		{"the image of a conditional update", &cvo.Update{Image: "five"}, "five", ""},
		{"nothing at all", &cvo.Update{}, "one", "spec.desiredUpdate"},
		{"risks to accept alone", &cvo.Update{AcceptRisks: []cvo.AcceptRisk{{Name: "A"}}}, "one", ""},
		{"risks to accept and a version", &cvo.Update{Version: "4.1.1", AcceptRisks: []cvo.AcceptRisk{{Name: "A"}}}, "two", ""},
		{"an architecture alone", &cvo.Update{Architecture: "Multi"}, "one", "spec.desiredUpdate.version"},
		{"another architecture", &cvo.Update{Architecture: "arm64", Version: "4.1.0"}, "one", "spec.desiredUpdate.architecture"},
		{"an architecture and an image", &cvo.Update{Architecture: "Multi", Version: "4.1.0", Image: "x"}, "one", "spec.desiredUpdate.image"},
		{"an architecture of the current version", &cvo.Update{Architecture: "Multi", Version: "4.1.0"}, "one", ""},
	} {
		cv := &cvo.ClusterVersion{Spec: cvo.Spec{DesiredUpdate: c.ask}, Status: status}
		r, _ := cvo.Desire(cv, current)
		field := ""
		if found := cvo.Validate(cv, nil); len(found) > 0 {
			field = found[0].Path
		}
		if r.Image != c.want || field != c.bad {
			t.Errorf("%s: %s, fault in %q", c.name, r.Image, field)
		}
	}
	bad := &cvo.ClusterVersion{Spec: cvo.Spec{ClusterID: "x", Upstream: "::", Overrides: []payload.Override{{}}}}
	if found := cvo.Validate(bad, nil); len(found) != 3 || found[0].Path != "spec.upstream" {
		t.Errorf("found %v", found)
	}
}

// The 13 rows of Test_equalDigest, and what they leave open.
func TestSameImage(t *testing.T) {
	const digest, other = "sha256:e3b0c44298fc1c14", "sha256:01ba4719c80b6fe9"
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"both empty", "", "", true},
		{"A empty", "", "r@" + digest, false},
		{"B empty", "r@" + digest, "", false},
		{"A implicit tag", "r", "r@" + digest, false},
		{"B implicit tag", "r@" + digest, "r", false},
		{"A by tag", "r:e3b0c44298fc1c14", "r@" + digest, false},
		{"B by tag", "r@" + digest, "r:e3b0c44298fc1c14", false},
		{"identical by tag", "r:latest", "r:latest", true},
		{"different repositories, same tag", "a:latest", "b:latest", false},
		{"different repositories, same digest", "a@" + digest, "b@" + digest, true},
		{"same repository, different digests", "r@" + digest, "r@" + other, false},
		{"A empty repository, same digest", "@" + digest, "r@" + digest, true},
		{"B empty repository, same digest", "r@" + digest, "@" + digest, true},
		{"both with an empty digest", "a@", "b@", false},
	} {
		if cvo.SameImage(c.a, c.b) != c.same {
			t.Errorf("%s: %q and %q", c.name, c.a, c.b)
		}
	}
	v := cvo.Digests{"sha256:one"}
	if v.Verify(t.Context(), "sha256:one") != nil || v.Verify(t.Context(), "sha256:two") == nil || v.Verify(t.Context(), "tag") == nil {
		t.Error("the wrong digests are trusted")
	}
}

// The table of rules: what is newer or older than it has the rules of the nearest release,
// and says so. The kubelets may be behind as the kube-apiserver operator allows.
func TestRulesOf(t *testing.T) {
	for version, want := range map[string]string{
		"4.18.3": "4.18 true true", "4.18.0-0.okd-2025-01-01-000000": "4.18 true true", "4.11.9": "4.12 false true", "4.22.0": "4.22 true false",
		"4.24.0": "4.23 false false", "5.9.1": "5.1 false false", "four": "5.1 false false",
	} {
		r := cvo.RulesOf(version)
		if got := fmt.Sprint(r.Minor, " ", r.Known, " ", r.OverridesBlockAll); got != want {
			t.Errorf("%s: %s, not %s", version, got, want)
		}
		if r.Branch != "release-"+r.Minor || r.Commit == "" || r.Skew == "" || r.Since != r.Minor+".0" {
			t.Errorf("%s: %+v", version, r)
		}
	}
	for _, c := range [][3]int{{4, 18, 2}, {4, 19, 1}, {4, 20, 2}, {4, 23, 1}, {5, 0, 1}, {5, 1, 2}, {5, 2, 3}, {5, 3, 1}} {
		if got := cvo.KubeletSkew(uint64(c[0]), uint64(c[1])); got != c[2] {
			t.Errorf("%d.%d: %d behind, not %d", c[0], c[1], got, c[2])
		}
	}
}
