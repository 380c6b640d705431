package payload_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/payload"
)

// selection reads manifests of "FILE KIND.GROUP NAME" lines; a definition names
// the kind that it defines, a tombstone begins with "-".
func selection(t *testing.T, lines ...string) *payload.Selection {
	t.Helper()
	s := &payload.Selection{Payload: new(payload.Payload)}
	for _, line := range lines {
		line, deleted := strings.CutPrefix(line, "-")
		w := strings.Fields(line)
		kind, group, _ := strings.Cut(w[1], ".")
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", strings.TrimPrefix(group+"/v1", "/"), kind, w[2])
		if deleted {
			text += "  annotations:\n    release.openshift.io/delete: \"true\"\n"
		}
		if kind == "CustomResourceDefinition" {
			of, in, _ := strings.Cut(w[2], ".")
			text += fmt.Sprintf("spec:\n  group: %s\n  names:\n    kind: %s\n", in, of)
		}
		all, err := payload.ReadManifests("release-manifests/"+w[0], []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Tasks = append(s.Tasks, all...)
	}
	return s
}

const definition = "CustomResourceDefinition.apiextensions.k8s.io"

// TestLint: what comes before its definition, or beside it, is told, and what
// nothing defines.
func TestLint(t *testing.T) {
	s := selection(t,
		"0000_05_a_0.yaml Widget.shop early", "0000_05_b_0.yaml ConfigMap x", "-0000_05_b_1.yaml Gone.shop tombstone",
		"0000_10_a_0.yaml "+definition+" Widget.shop", "0000_10_a_1.yaml Widget.shop behind", "0000_10_b_0.yaml Widget.shop beside",
		"0000_20_a_0.yaml Widget.shop later", "0000_20_b_0.yaml Gadget.shop nowhere", "0000_20_b_1.yaml APIService.apiregistration.k8s.io v1.served",
		"0000_20_b_2.yaml Thing.served known", "0000_20_b_3.yaml ClusterOperator.config.openshift.io there")
	var got []string
	for _, d := range s.Lint(payload.NewGraph(s.Tasks, nil)) {
		got = append(got, string(d.Code)+" "+d.Subject)
	}
	want := `order widget "early", order widget "beside", unknown-kind gadget "nowhere"`
	if strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestLintBuiltin: which kinds Kubernetes has, and where a kind of another group
// belongs.
func TestLintBuiltin(t *testing.T) {
	s := selection(t,
		"0000_05_a_0.yaml ConfigMap x", "0000_05_a_0.yaml Deployment.apps x", "0000_05_a_0.yaml Event.events.k8s.io x", "0000_05_a_0.yaml Event x",
		"0000_05_a_1.yaml Deploymnt.apps x", "0000_05_a_2.yaml Deployment x", "0000_05_a_3.yaml Ingress.extensions x", "-0000_05_a_4.yaml Deploymnt.apps z",
		"0000_05_a_5.yaml Pod.apps x", "0000_05_a_6.yaml "+definition+" Extra.apps", "0000_05_a_7.yaml Extra.apps x")
	var got []string
	for _, d := range s.Lint(payload.NewGraph(s.Tasks, nil)) {
		got = append(got, d.Error())
	}
	want := []string{
		`release-manifests/0000_05_a_1.yaml:1:1: deploymnt "x": the group apps of Kubernetes has no kind Deploymnt; check its kind and apiVersion`,
		`release-manifests/0000_05_a_2.yaml:1:1: deployment "x": the core group of Kubernetes has no kind Deployment; there is one of the group apps: check its apiVersion`,
		`release-manifests/0000_05_a_3.yaml:1:1: ingress "x": neither Kubernetes nor this payload defines the kind Ingress of extensions; there is one of the group networking.k8s.io: check its apiVersion`,
		`release-manifests/0000_05_a_5.yaml:1:1: pod "x": the group apps of Kubernetes has no kind Pod; there is one of the core group: check its apiVersion`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDiffAbandoned: what the new release does not speak of is told, unless the
// old one had asked for it to be removed.
func TestDiffAbandoned(t *testing.T) {
	before := selection(t, "0000_05_a_0.yaml ConfigMap stays", "0000_05_a_1.yaml ConfigMap goes", "-0000_05_a_2.yaml ConfigMap dead", "-0000_05_a_3.yaml ConfigMap back")
	after := selection(t, "0000_05_a_0.yaml ConfigMap stays", "0000_05_a_3.yaml ConfigMap back", "-0000_05_a_4.yaml ConfigMap never")
	d := payload.Diff(before, after)
	var got []string
	for _, c := range d.Changes {
		got = append(got, string(c.Kind)+" "+c.ID.Name)
	}
	if strings.Join(got, ", ") != "added back, abandoned goes" || len(d.Risks()) != 1 {
		t.Errorf("%v, risks %v", got, d.Risks())
	}
}

// TestDiffCapabilities: a resource that needs a capability from now on is told,
// whether the filter has it or not.
func TestDiffCapabilities(t *testing.T) {
	with := func(caps string) *payload.Payload {
		text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {%s: \"true\", %s: %q}\n", ha, needs, caps)
		all, err := payload.ReadManifests("release-manifests/0000_10_a_x.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return &payload.Payload{Manifests: all}
	}
	f := payload.NewFilter()
	for _, f.Capabilities = range []*payload.Capabilities{nil, {Known: []string{"A", "B"}, Enabled: []string{"A"}}} {
		d := payload.Diff(with("A").Select(f), with("A+B+B").Select(f))
		if strings.Join(d.Capabilities, " ") != "B" {
			t.Errorf("%+v: %v", f.Capabilities, d.Capabilities)
		}
	}
}

// TestDiffPlaces: a change has its places in both orders, from 1.
func TestDiffPlaces(t *testing.T) {
	before := selection(t, "0000_05_a_0.yaml ConfigMap same", "0000_05_a_1.yaml ConfigMap moved", "0000_05_a_2.yaml ConfigMap goes")
	after := selection(t, "0000_05_a_0.yaml ConfigMap same", "0000_05_a_1.yaml ConfigMap new", "0000_05_a_3.yaml ConfigMap moved", "-0000_05_a_4.yaml ConfigMap goes")
	place := func(p *payload.Place) string {
		if p == nil {
			return "-"
		}
		return fmt.Sprintf("%s:%d", strings.TrimPrefix(p.File, "release-manifests/0000_05_"), p.Task)
	}
	var got []string
	for _, c := range payload.Diff(before, after).Changes {
		got = append(got, fmt.Sprintf("%s %s %s %s", c.ID.Name, c.Kind, place(c.From), place(c.To)))
	}
	if want := "new added - a_1.yaml:2, moved moved a_1.yaml:2 a_3.yaml:3, goes deleted a_2.yaml:3 a_4.yaml:4"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}

// TestDiffFields: a change names the fields that differ, as deep as both manifests have
// them. Of lists it names the elements, if the lists are equally long, otherwise the list.
func TestDiffFields(t *testing.T) {
	with := func(spec string) *payload.Selection {
		all, err := payload.ReadManifests("release-manifests/0000_10_a_x.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nspec: "+spec+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return &payload.Selection{Payload: new(payload.Payload), Tasks: all}
	}
	for _, c := range []struct{ from, to, want string }{
		{"{a: 1}", "{a: 1.0}", ""},
		{"{a: 1}", "{a: 2}", "spec.a"},
		{"{a: 1}", "{a: 1, b: 1}", "spec.b"},
		{"{a: 1, b: 1}", "{a: 2}", "spec.a spec.b"},
		{"{a: {b: {c: 1}}}", "{a: {b: {c: 2}}}", "spec.a.b.c"},
		{"{a: {b: 1}}", "{a: [1]}", "spec.a"},
		{"[1, 2]", "[1, 3]", "spec[1]"},
		{"[1, 2]", "[1, 2, 3]", "spec"},
		{"[{a: 1, b: 1}, 2]", "[{a: 2, b: 1}, 3]", "spec[0].a spec[1]"},
		{"{a.b: 1, c/d: 1}", "{a.b: 2, c/d: 2}", "spec[a.b] spec[c/d]"},
	} {
		var got []string
		for _, change := range payload.Diff(with(c.from), with(c.to)).Changes {
			got = append(got, change.Fields...)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s to %s: %v, want %s", c.from, c.to, got, c.want)
		}
	}
}
