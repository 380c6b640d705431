package olm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

func TestParseProperties(t *testing.T) {
	for _, test := range []struct {
		annotation, want string
		bad              bool
	}{
		{annotation: "", bad: true},
		{annotation: "bogus", bad: true},
		{annotation: "[]", bad: true},
		{annotation: `{"properties":"x"}`, bad: true},
		{annotation: `{}`},
		{annotation: `{"properties":[]}`},
		{annotation: `{"properties":[{"type":"a","value":"1"}]}`, want: `a="1"`},
		{annotation: `{"properties":[{"type":"a","value":1},{"type":"b","value":{"c":[true]}}]}`, want: `a=1 b={"c":[true]}`},
	} {
		props, err := olm.ParseProperties(test.annotation)
		if test.bad != (err != nil) {
			t.Errorf("%q: error %v", test.annotation, err)
		}
		var got []string
		for _, p := range props {
			got = append(got, p.Type+"="+string(p.Value))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%q: got %s, want %s", test.annotation, text, test.want)
		}
	}
}

func TestFormatProperties(t *testing.T) {
	for _, test := range []struct {
		props []catalog.Property
		want  string
		bad   bool
	}{
		{want: `{}`},
		{props: []catalog.Property{}, want: `{}`},
		{props: []catalog.Property{{Type: "a", Value: json.RawMessage(`bogus`)}}, bad: true},
		{
			props: []catalog.Property{{Type: "a", Value: json.RawMessage(`"x"`)}, {Type: "b", Value: json.RawMessage(`1`)}},
			want:  `{"properties":[{"type":"a","value":"x"},{"type":"b","value":1}]}`,
		},
		{
			props: []catalog.Property{{Type: "olm.csv.metadata", Value: json.RawMessage(`{}`)}, {Type: "b", Value: json.RawMessage(`1`)}},
			want:  `{"properties":[{"type":"b","value":1}]}`,
		},
	} {
		got, err := olm.FormatProperties(test.props)
		if got != test.want || test.bad != (err != nil) {
			t.Errorf("%v: got %s, %v; want %s", test.props, got, err, test.want)
		}
	}
}

// TestDecodeObjects reads objects in the form that a cluster prints.
func TestDecodeObjects(t *testing.T) {
	var sub olm.Subscription
	if err := json.Unmarshal([]byte(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription",
		"metadata":{"name":"s","namespace":"n"},
		"spec":{"name":"p","channel":"c","source":"cs","sourceNamespace":"cn","startingCSV":"p.v1","installPlanApproval":"Manual"},
		"status":{"currentCSV":"p.v2","installedCSV":"p.v1","state":"UpgradePending"}}`), &sub); err != nil {
		t.Fatal(err)
	}
	want := olm.Subscription{
		ObjectMeta: olm.ObjectMeta{Name: "s", Namespace: "n"},
		Spec: olm.SubscriptionSpec{Package: "p", Channel: "c", Source: "cs", SourceNamespace: "cn", StartingCSV: "p.v1",
			InstallPlanApproval: olm.ApprovalManual},
		Status: olm.SubscriptionStatus{CurrentCSV: "p.v2", InstalledCSV: "p.v1", State: olm.StateUpgradePending},
	}
	if got := sub; got.Name != want.Name || got.Namespace != want.Namespace || got.Spec != want.Spec || !got.Status.Equal(&want.Status) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var csv olm.ClusterServiceVersion
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"p.v1","annotations":{"a":"b"}},
		"spec":{"version":"1.0.0","replaces":"p.v0",
			"customresourcedefinitions":{"owned":[{"name":"ks.g","version":"v1","kind":"K"}],"required":[{"name":"ls.g","version":"v1","kind":"L"}]},
			"apiservicedefinitions":{"owned":[{"name":"ms","group":"g","version":"v1","kind":"M"}]}},
		"status":{"phase":"Succeeded","reason":"InstallSucceeded"}}`), &csv); err != nil {
		t.Fatal(err)
	}
	crds, apis := csv.Spec.CustomResourceDefinitions, csv.Spec.APIServiceDefinitions
	if csv.Name != "p.v1" || csv.Spec.Version != "1.0.0" || csv.Spec.Replaces != "p.v0" || csv.Status.Phase != olm.PhaseSucceeded ||
		len(crds.Owned) != 1 || crds.Owned[0].Kind != "K" || len(crds.Required) != 1 || len(apis.Owned) != 1 || apis.Owned[0].Group != "g" {
		t.Errorf("got %+v", csv)
	}
}

// TestInferProperties verifies that the package of a CSV without the annotation
// is the one that its subscriptions agree on.
func TestInferProperties(t *testing.T) {
	sub := func(pkg, installed, source string) *olm.Subscription {
		return &olm.Subscription{Spec: olm.SubscriptionSpec{Package: pkg, SourceNamespace: source}, Status: olm.SubscriptionStatus{InstalledCSV: installed}}
	}
	for _, test := range []struct {
		name, version string
		subs          []*olm.Subscription
		want          string
	}{
		{"no subscriptions", "1.0.0", nil, ""},
		{"an unrelated one", "1.0.0", []*olm.Subscription{sub("x", "other.v1", "")}, ""},
		{"one without a package", "1.0.0", []*olm.Subscription{sub("", "a.v1", "")}, ""},
		{"two packages", "1.0.0", []*olm.Subscription{sub("x", "a.v1", ""), sub("y", "a.v1", "")}, ""},
		{"one match", "1.0.0", []*olm.Subscription{sub("x", "a.v1", ""), sub("y", "other.v1", "")}, `olm.package={"packageName":"x","version":"1.0.0"}`},
		{"a catalog of another namespace", "1.0.0", []*olm.Subscription{sub("x", "a.v1", "elsewhere")}, `olm.package={"packageName":"x","version":"1.0.0"}`},
		{"no version", "", []*olm.Subscription{sub("x", "a.v1", "")}, `olm.package={"packageName":"x","version":""}`},
		{"the version that an absent one prints as", "0.0.0", []*olm.Subscription{sub("x", "a.v1", "")}, `olm.package={"packageName":"x","version":""}`},
	} {
		csv := &olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Name: "a.v1"}, Spec: olm.CSVSpec{Version: test.version}}
		if got := projection(t, csv, test.subs); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestEntryFromCSV verifies that a CSV without the annotation has the
// properties of what it owns and requires.
func TestEntryFromCSV(t *testing.T) {
	crds := []olm.CRDDescription{{Name: "ks.g", Version: "v1", Kind: "K"}}
	apis := []olm.APIServiceDescription{{Name: "ls", Group: "h", Version: "v2", Kind: "L"}}
	const k, l = `{"group":"g","version":"v1","kind":"K"}`, `{"group":"h","version":"v2","kind":"L"}`
	for _, test := range []struct {
		provides, requires bool
		want               string
	}{
		{false, false, ""},
		{true, false, "olm.gvk=" + k + " olm.gvk=" + l},
		{false, true, "olm.gvk.required=" + k + " olm.gvk.required=" + l},
		{true, true, "olm.gvk=" + k + " olm.gvk=" + l + " olm.gvk.required=" + k + " olm.gvk.required=" + l},
	} {
		csv := &olm.ClusterServiceVersion{}
		if test.provides {
			csv.Spec.CustomResourceDefinitions.Owned, csv.Spec.APIServiceDefinitions.Owned = crds, apis
		}
		if test.requires {
			csv.Spec.CustomResourceDefinitions.Required, csv.Spec.APIServiceDefinitions.Required = crds, apis
		}
		if got := projection(t, csv, nil); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func projection(t *testing.T, csv *olm.ClusterServiceVersion, subs []*olm.Subscription) string {
	t.Helper()
	props, err := olm.Projected(csv, subs)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range props {
		got = append(got, p.Type+"="+string(p.Value))
	}
	return strings.Join(got, " ")
}
