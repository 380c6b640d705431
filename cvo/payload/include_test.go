package payload_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/payload"
)

// The annotations of the rows below.
const (
	ha      = "include.release.openshift.io/self-managed-high-availability"
	without = "exclude.release.openshift.io/identifier"
	set     = payload.AnnotationFeatureSet
	gate    = payload.AnnotationGate
	major   = payload.AnnotationMajor
	needs   = payload.AnnotationCapability
)

type marks = map[string]string

func pointer[T any](v T) *T { return &v }

// judged compares what a filter says of a manifest with the words of a row;
// none mean that it is in.
func judged(t *testing.T, row string, f payload.Filter, m *payload.Manifest, want string) {
	t.Helper()
	if got := f.Evaluate(m); got.Reason != want || (got.Rule == payload.RuleNone) != (want == "") {
		t.Errorf("%s: %s: %q, want %q", row, got.Rule, got.Reason, want)
	}
}

// TestIncludeRows is Test_include, TestIncludeAllowUnknownCapabilities and
// TestManifestIncludeWithFeatureGates, row by row.
func TestIncludeRows(t *testing.T) {
	profile, other := pointer(payload.DefaultProfile), pointer("single-node")
	caps := func(known, enabled string) *payload.Capabilities {
		return &payload.Capabilities{Known: strings.Fields(known), Enabled: strings.Fields(enabled)}
	}
	unknown := caps("cap1 cap3", "cap1 cap3")
	unknown.AllowUnknown = true
	const unrecognized = `unrecognized value "Other" in release.openshift.io/feature-set=Other; known values are: CustomNoUpgrade,Default,DevPreviewNoUpgrade,OKD,TechPreviewNoUpgrade`
	pod := payload.Override{Kind: "Pod", Namespace: "my-namespace", Name: "my-pod", Unmanaged: true}
	kept := payload.Override{Group: "apps", Kind: "Deployment", Namespace: "my-namespace", Name: "my-deployment"}
	left := kept
	left.Unmanaged = true
	type filter = payload.Filter
	for _, c := range []struct {
		row         string
		f           filter
		annotations marks
		want        string
	}{
		{"exclusion identifier set", filter{Exclude: pointer("identifier"), Profile: profile}, marks{without: "true", ha: "true"}, without + "=true"},
		{"exclusion identifier set with no capability", filter{Exclude: pointer("identifier"), Profile: profile, Capabilities: caps("", "")}, marks{without: "true", ha: "true"}, without + "=true"},
		{"profile selection works", filter{Profile: other}, marks{ha: "true"}, "include.release.openshift.io/single-node unset"},
		{"No profile", filter{}, marks{ha: "true"}, ""},
		{"profile selection works included", filter{Profile: profile}, marks{ha: "true"}, ""},
		{"unspecified, techpreview off", filter{Profile: profile, FeatureSet: pointer("")}, marks{ha: "true"}, ""},
		{"unspecified, techpreview on", filter{Profile: profile, FeatureSet: pointer("TechPreviewNoUpgrade")}, marks{ha: "true"}, ""},
		{"correct, techpreview off", filter{Profile: profile, FeatureSet: pointer("")}, marks{ha: "true", set: "TechPreviewNoUpgrade"}, `"Default" is required, and release.openshift.io/feature-set=TechPreviewNoUpgrade`},
		{"correct, techpreview on", filter{Profile: profile, FeatureSet: pointer("TechPreviewNoUpgrade")}, marks{ha: "true", set: "TechPreviewNoUpgrade"}, ""},
		{"incorrect, techpreview off", filter{Profile: profile, FeatureSet: pointer("")}, marks{ha: "true", set: "Other"}, unrecognized},
		{"incorrect, techpreview on", filter{Profile: profile, FeatureSet: pointer("TechPreviewNoUpgrade")}, marks{ha: "true", set: "Other"}, unrecognized},
		{"several incorrect: the first as written", filter{FeatureSet: pointer("")}, marks{set: "Default,Other,A"}, strings.Replace(unrecognized, "feature-set=Other", "feature-set=Default,Other,A", 1)},
		{"default profile, without annotation", filter{Profile: profile}, marks{}, ha + " unset"},
		{"default profile, no annotations", filter{Profile: profile}, nil, "no annotations"},
		{"unrecognized capability annotation", filter{}, marks{ha: "true", needs: "cap1"}, ""},
		{"disabled capability", filter{Capabilities: caps("cap1", "")}, marks{ha: "true", needs: "cap1"}, "disabled capabilities: cap1"},
		{"enabled capability", filter{Capabilities: caps("cap1", "cap1")}, marks{ha: "true", needs: "cap1"}, ""},
		{"multiple capabilities, 1 unknown", filter{Capabilities: caps("cap1 cap3", "cap1 cap3")}, marks{ha: "true", needs: "cap1+cap2"}, "unrecognized capability names: cap2"},
		{"multiple capabilities, 1 disabled", filter{Capabilities: caps("cap1 cap2 cap3", "cap1 cap3")}, marks{ha: "true", needs: "cap1+cap2"}, "disabled capabilities: cap2"},
		{"multiple capabilities, all enabled", filter{Capabilities: caps("cap1 cap2 cap3", "cap1 cap2 cap3")}, marks{ha: "true", needs: "cap1+cap2+cap3"}, ""},
		{"unrelated override", filter{Overrides: []payload.Override{pod}}, marks{}, ""},
		{"override, but managed", filter{Overrides: []payload.Override{kept}}, marks{}, ""},
		{"unmanaged override", filter{Overrides: []payload.Override{left}}, marks{}, "overridden"},
		{"two overrides, the first managed", filter{Overrides: []payload.Override{pod, kept, left}}, marks{}, ""},
		{"two overrides, the first unmanaged", filter{Overrides: []payload.Override{pod, left, kept}}, marks{}, "overridden"},
		{"gate required but not enabled", filter{Gates: []string{"FeatureGate1"}}, marks{gate: "FeatureGate2"}, "feature gate FeatureGate2 is required but not enabled"},
		{"gate enabled but required to be disabled", filter{Gates: []string{"FeatureGate1"}}, marks{gate: "-FeatureGate1"}, "feature gate FeatureGate1 is enabled but manifest requires it to be disabled"},
		{"gate required and enabled", filter{Gates: []string{"FeatureGate1"}}, marks{gate: "FeatureGate1"}, ""},
		{"set required and gate specified", filter{FeatureSet: pointer("FeatureSet1"), Gates: []string{"FeatureGate1"}}, marks{set: "FeatureSet1", gate: "FeatureGate1"}, "both feature set and feature gate annotations are present: a manifest may have only one of them"},
		{"all nil", filter{}, nil, "no annotations"},
		{"AllowUnknown: 1 unknown", filter{Capabilities: caps("cap1 cap3", "cap1 cap3")}, marks{ha: "true", needs: "cap1+cap2"}, "unrecognized capability names: cap2"},
		{"AllowUnknown: unknown allowed", filter{Capabilities: unknown}, marks{ha: "true", needs: "cap1+cap2"}, "disabled capabilities: cap2"},
		{"WithFeatureGates: enabled", filter{Gates: []string{"TechPreviewFeatureGate"}}, marks{gate: "TechPreviewFeatureGate"}, ""},
		{"WithFeatureGates: disabled", filter{Gates: []string{"SomeOtherGate"}}, marks{gate: "TechPreviewFeatureGate"}, "feature gate TechPreviewFeatureGate is required but not enabled"},
	} {
		id := payload.ID{Group: "apps", Kind: "Deployment", Namespace: "my-namespace", Name: "my-deployment"}
		judged(t, c.row, c.f, &payload.Manifest{ID: id, Annotations: c.annotations}, c.want)
	}
}

// TestFeatureGateRows is TestCheckFeatureGates, row by row.
func TestFeatureGateRows(t *testing.T) {
	for _, c := range []struct{ row, gates, annotation, want string }{
		{"none", "gate1 gate2", "absent", ""},
		{"empty", "gate1 gate2", "", ""},
		{"required, enabled", "Tech gate2", "Tech", ""},
		{"required, not enabled", "gate1 gate2", "Tech", "feature gate Tech is required but not enabled"},
		{"excluded, not enabled", "gate1 gate2", "-Tech", ""},
		{"excluded, enabled", "Tech gate2", "-Tech", "feature gate Tech is enabled but manifest requires it to be disabled"},
		{"multiple, all satisfied", "gate1 gate2", "gate1,gate2,-gate3", ""},
		{"multiple, inclusion not satisfied", "gate1", "gate1,gate2,-gate3", "feature gate gate2 is required but not enabled"},
		{"multiple, exclusion not satisfied", "gate1 gate2 gate3", "gate1,gate2,-gate3", "feature gate gate3 is enabled but manifest requires it to be disabled"},
		{"whitespace", "gate1 gate2", " gate1 , gate2 , -gate3 ", ""},
		{"empty items", "gate1", "gate1,,", ""},
		{"no OR for inclusion", "New", "New,Alternative", "feature gate Alternative is required but not enabled"},
		{"AND for mixed", "A", "A,-B", ""},
	} {
		m := &payload.Manifest{Annotations: marks{gate: c.annotation}}
		if c.annotation == "absent" {
			m.Annotations = marks{}
		}
		judged(t, c.row, payload.Filter{Gates: strings.Fields(c.gates)}, m, c.want)
	}
}

// TestMajorVersionRows is TestMajorVersionFiltering, row by row, and its
// interaction with gates.
func TestMajorVersionRows(t *testing.T) {
	const none = "major version 4 does not match any required versions"
	for _, c := range []struct {
		row, annotation string
		cluster         uint64
		want            string
	}{
		{"none", "absent", 4, ""},
		{"single inclusion, matching", "4", 4, ""},
		{"single inclusion, not matching", "5", 4, none},
		{"multiple inclusions, first", "4,5,6", 4, ""},
		{"multiple inclusions, middle", "3,4,5", 4, ""},
		{"multiple inclusions, last", "5,6,4", 4, ""},
		{"multiple inclusions, none", "5,6,7", 4, none},
		{"single exclusion, matching", "-4", 4, "major version 4 matches excluded version 4"},
		{"single exclusion, not matching", "-5", 4, ""},
		{"multiple exclusions, first", "-4,-5,-6", 4, "major version 4 matches excluded version 4"},
		{"multiple exclusions, none", "-5,-6,-7", 4, ""},
		{"mixed, inclusion matches", "4,-5", 4, ""},
		{"mixed, both match", "4,-4", 4, "release.openshift.io/major-version=4,-4: version 4 is both required and excluded"},
		{"mixed, inclusion does not match", "5,-6", 4, none},
		{"whitespace", " 4 , 5 , -6 ", 4, ""},
		{"empty item", "4,,5", 4, ""},
		{"invalid inclusion", "abc", 4, `release.openshift.io/major-version=abc: "abc" is not a major version`},
		{"invalid exclusion", "-abc", 4, `release.openshift.io/major-version=-abc: "-abc" is not a major version`},
		{"zero", "0", 0, ""},
		{"large", "999", 999, ""},
		{"real world", "4,5,-3", 4, ""},
		{"real world, excluded", "4,5,-3", 3, "major version 3 matches excluded version 3"},
		{"future", "5,6,7,8,9,10", 4, none},
	} {
		m := &payload.Manifest{ID: payload.ID{Group: "config.openshift.io", Kind: "FeatureGate"}, Annotations: marks{major: c.annotation}}
		if c.annotation == "absent" {
			m.Annotations = marks{"test": "test"}
		}
		judged(t, c.row, payload.Filter{Major: &c.cluster}, m, c.want)
		if c.row == "single inclusion, not matching" {
			judged(t, "nil major version", payload.Filter{}, m, "")
		}
	}
	for _, c := range []struct{ row, major, gates, want string }{
		{"major passes, gate fails", "4", "", "feature gate RequiredFeature is required but not enabled"},
		{"gate passes, major fails", "5", "RequiredFeature", none},
		{"both pass", "4", "RequiredFeature", ""},
	} {
		m := &payload.Manifest{ID: payload.ID{Group: "config.openshift.io", Kind: "FeatureGate"}, Annotations: marks{major: c.major, gate: "RequiredFeature"}}
		judged(t, c.row, payload.Filter{Major: pointer(uint64(4)), Gates: strings.Fields(c.gates)}, m, c.want)
	}
}

// TestManifestCapabilities is TestGetManifestCapabilities.
func TestManifestCapabilities(t *testing.T) {
	for _, c := range []struct {
		row         string
		annotations marks
		want        []string
	}{
		{"no annotations", nil, nil},
		{"no capability annotation", marks{ha: "true"}, nil},
		{"empty capabilities annotation", marks{ha: "true", needs: ""}, nil},
		{"capabilities", marks{ha: "true", needs: "cap1+cap2"}, []string{"cap1", "cap2"}},
	} {
		if got := (&payload.Manifest{Annotations: c.annotations}).Capabilities(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.row, got, c.want)
		}
	}
}

// TestLabel is TestTaskString, row by row.
func TestLabel(t *testing.T) {
	for _, c := range []struct {
		row      string
		id       payload.ID
		i, total int
		want     string
	}{
		{"Manifest with name", payload.ID{Name: "file-json"}, 0, 0, ` "file-json" (0 of 0)`},
		{"Manifest with GVK", payload.ID{Group: "extensions", Kind: "Ingress", Name: "file-json"}, 0, 0, `ingress "file-json" (0 of 0)`},
		{"Manifest with name and namespace", payload.ID{Namespace: "foo", Name: "file-json"}, 0, 0, ` "foo/file-json" (0 of 0)`},
		{"Manifest with GVK and namespace", payload.ID{Group: "extensions", Kind: "Ingress", Namespace: "foo", Name: "file-json"}, 0, 0, `ingress "foo/file-json" (0 of 0)`},
		{"index and total", payload.ID{Group: "extensions", Kind: "Ingress", Name: "file-json"}, 3, 7, `ingress "file-json" (3 of 7)`},
		{"Namespaced, index and total", payload.ID{Group: "extensions", Kind: "Ingress", Namespace: "foo", Name: "file-json"}, 5, 10, `ingress "foo/file-json" (5 of 10)`},
		{"List", payload.ID{}, 0, 0, ` "list_manifest.yaml" (0 of 0)`},
		{"List and GVK", payload.ID{Kind: "List"}, 0, 0, `list "list_manifest.yaml" (0 of 0)`},
	} {
		m := &payload.Manifest{ID: c.id, File: "release-manifests/list_manifest.yaml"}
		if got := m.Label(c.i, c.total); got != c.want {
			t.Errorf("%s: %s, want %s", c.row, got, c.want)
		}
	}
}
