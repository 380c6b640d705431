package payload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Filter is what decides which manifests of a payload belong to a cluster. A nil
// field is ignored.
type Filter struct {
	// Exclude is the identifier of the operator that reads the payload: manifests
	// may request to be left out by it.
	Exclude *string `json:"exclude,omitempty"`
	// Profile is the cluster profile, such as [DefaultProfile].
	Profile *string `json:"profile,omitempty"`
	// FeatureSet is the feature set of the cluster; empty means Default.
	FeatureSet *string `json:"featureSet,omitempty"`
	// Gates are the enabled feature gates. An empty list that is not nil means
	// that none is enabled.
	Gates []string `json:"gates"`
	// Major is the major version of the cluster. If it is nil, Payload.Select uses
	// that of the release.
	Major *uint64 `json:"major,omitempty"`
	// Capabilities are those that the cluster knows and has enabled.
	Capabilities *Capabilities `json:"capabilities,omitempty"`
	// Overrides are the resources that the administrator manages. If a resource
	// has several entries, the first counts.
	Overrides []Override `json:"overrides,omitempty"`
}

// Override names a resource that is not managed, as spec.overrides of
// ClusterVersion does.
type Override struct {
	Group     string `json:"group"`     // of its API; empty for the core group
	Kind      string `json:"kind"`      // such as Deployment
	Namespace string `json:"namespace"` // its namespace; ignored for cluster-scoped resources
	Name      string `json:"name"`      // its name
	Unmanaged bool   `json:"unmanaged"` // false: the entry has no effect
}

// NewFilter returns the filter of a cluster with default settings: the default
// profile, the Default feature set, and no feature gate. Its fields may be
// changed.
func NewFilter() *Filter {
	profile, set := DefaultProfile, ""
	return &Filter{Profile: &profile, FeatureSet: &set, Gates: []string{}}
}

// Rule names a rule of inclusion. Rules are stable: scripts may compare them.
type Rule string

// The rules, in the order in which they are checked. The first that a manifest
// breaks is reported.
const (
	RuleNone       Rule = ""                // no rule is broken
	RuleNoMarks    Rule = "no-annotations"  // the manifest has no annotations at all
	RuleExclude    Rule = "exclude"         // it requests not to be applied by this operator
	RuleSetAndGate Rule = "set-and-gate"    // it has both a feature set and a feature gate
	RuleFeatureSet Rule = "feature-set"     // it is for other feature sets
	RuleGate       Rule = "feature-gate"    // it is for other feature gates
	RuleMajor      Rule = "major-version"   // it is for other major versions
	RuleProfile    Rule = "cluster-profile" // it is for other cluster profiles
	RuleCapability Rule = "capability"      // it needs a capability that is not enabled
	RuleOverride   Rule = "override"        // the administrator manages the resource
)

// Exclusion says why a manifest is left out.
type Exclusion struct {
	Rule   Rule   `json:"rule"`   // the rule that it breaks
	Reason string `json:"reason"` // in the words of the reference
}

// featureSets are the existing feature sets.
const featureSets = "CustomNoUpgrade,Default,DevPreviewNoUpgrade,OKD,TechPreviewNoUpgrade"

// Evaluate decides whether a manifest belongs to the cluster: it does if the
// result has RuleNone. A nil filter only checks that there are annotations.
func (f *Filter) Evaluate(m *Manifest) Exclusion {
	if m.Annotations == nil {
		return Exclusion{RuleNoMarks, "no annotations"}
	}
	if f == nil {
		return Exclusion{}
	}
	for _, check := range [...]struct {
		rule   Rule
		reason func(*Manifest) string
	}{
		{RuleExclude, f.excluded}, {RuleSetAndGate, f.setAndGate}, {RuleFeatureSet, f.featureSet}, {RuleGate, f.gates},
		{RuleMajor, f.major}, {RuleProfile, f.profile}, {RuleCapability, f.capability}, {RuleOverride, f.override},
	} {
		if reason := check.reason(m); reason != "" {
			return Exclusion{check.rule, reason}
		}
	}
	return Exclusion{}
}

func (f *Filter) excluded(m *Manifest) string {
	if f.Exclude == nil {
		return ""
	}
	if key := annotationExclude + *f.Exclude; m.Annotations[key] == "true" {
		return key + "=true"
	}
	return ""
}

func (f *Filter) setAndGate(m *Manifest) string {
	_, set := m.Annotations[AnnotationFeatureSet]
	_, gate := m.Annotations[AnnotationGate]
	if set && gate && f.FeatureSet != nil && f.Gates != nil {
		return "both feature set and feature gate annotations are present: a manifest may have only one of them"
	}
	return ""
}

func (f *Filter) featureSet(m *Manifest) string {
	list, ok := m.Annotations[AnnotationFeatureSet]
	if !ok || f.FeatureSet == nil {
		return ""
	}
	required := *f.FeatureSet
	if required == "" {
		required = "Default"
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(strings.Split(featureSets, ","), name) {
			return fmt.Sprintf("unrecognized value %s in %s=%s; known values are: %s", quote(name), AnnotationFeatureSet, list, featureSets)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if slices.Contains(names, required) {
		return ""
	}
	return fmt.Sprintf("%q is required, and %s=%s", required, AnnotationFeatureSet, strings.Join(names, ","))
}

func (f *Filter) gates(m *Manifest) string {
	list, ok := m.Annotations[AnnotationGate]
	if !ok || f.Gates == nil {
		return ""
	}
	for name := range strings.SplitSeq(list, ",") {
		name, off := strings.CutPrefix(strings.TrimSpace(name), "-")
		on := slices.Contains(f.Gates, name)
		switch {
		case name == "":
		case off && on:
			return "feature gate " + name + " is enabled but manifest requires it to be disabled"
		case !off && !on:
			return "feature gate " + name + " is required but not enabled"
		}
	}
	return ""
}

// major evaluates a list of major versions: if it has any without a dash, one of
// them must match; none with a dash may match.
func (f *Filter) major(m *Manifest) string {
	list, ok := m.Annotations[AnnotationMajor]
	if !ok || f.Major == nil {
		return ""
	}
	switch {
	case m.ID.Kind == "FeatureGate" && m.ID.Group == "config.openshift.io":
	case m.ID.Kind == "CustomResourceDefinition" && m.ID.Group == "apiextensions.k8s.io":
	default:
		return AnnotationMajor + " is for custom resource definitions and FeatureGates, not for a " + m.ID.Kind
	}
	var in, out []uint64
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		digits, dash := strings.CutPrefix(item, "-")
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return fmt.Sprintf("%s=%s: %s is not a major version", AnnotationMajor, list, quote(item))
		}
		if dash {
			out = append(out, n)
		} else {
			in = append(in, n)
		}
	}
	for _, n := range in {
		if slices.Contains(out, n) {
			return fmt.Sprintf("%s=%s: version %d is both required and excluded", AnnotationMajor, list, n)
		}
	}
	switch {
	case slices.Contains(out, *f.Major):
		return fmt.Sprintf("major version %d matches excluded version %[1]d", *f.Major)
	case len(in) > 0 && !slices.Contains(in, *f.Major):
		return fmt.Sprintf("major version %d does not match any required versions", *f.Major)
	}
	return ""
}

func (f *Filter) profile(m *Manifest) string {
	if f.Profile == nil {
		return ""
	}
	key := annotationProfile + *f.Profile
	switch value, ok := m.Annotations[key]; {
	case !ok:
		return key + " unset"
	case value != "true":
		return "unrecognized value " + key + "=" + value
	}
	return ""
}

func (f *Filter) override(m *Manifest) string {
	i := slices.IndexFunc(f.Overrides, func(o Override) bool {
		return o.Group == m.ID.Group && o.Kind == m.ID.Kind && o.Name == m.ID.Name &&
			(m.ID.Namespace == "" || o.Namespace == m.ID.Namespace)
	})
	if i >= 0 && f.Overrides[i].Unmanaged {
		return "overridden"
	}
	return ""
}
