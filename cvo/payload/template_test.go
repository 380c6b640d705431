package payload_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/samples"
)

// TestRender is TestRenderManifest: the operator's own deployment, with the
// release image and the profile filled in.
func TestRender(t *testing.T) {
	const file = "manifests/0000_00_cluster-version-operator_30_deployment.yaml"
	p, err := payload.Load(os.DirFS(samples.Data(t, "payload")), &payload.Options{ReleaseImage: "quay.io/cvo/release:latest", Profile: "some-profile"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(samples.Data(t, "payload", "cvo-testdata", "pkg_payload_testdata"), "TestRenderManifest_expected_cvo_deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := payload.ReadManifests(file, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Manifests {
		if m.File == file && string(m.JSON) != string(want[0].JSON) {
			t.Errorf("%s\nwant\n%s", m.JSON, want[0].JSON)
		}
	}
}

// TestOwnManifests is Test_cvoManifests: each of the operator's own manifests
// can be filled in, and is for some profile.
func TestOwnManifests(t *testing.T) {
	own := 0
	p := loadData(t)
	for _, d := range p.Warnings {
		if d.Code == payload.LintTemplate {
			t.Error(d)
		}
	}
	for _, m := range p.Manifests {
		if !strings.HasPrefix(m.File, payload.DirOwn+"/") {
			continue
		}
		own++
		some := false
		for key := range m.Annotations {
			some = some || strings.HasPrefix(key, "include.release.openshift.io/")
		}
		if !some {
			t.Errorf("%s: %s is for no profile", m.File, m.ID)
		}
	}
	if own == 0 {
		t.Error("there is no manifest of the operator itself")
	}
}

// TestImages is TestImagesFromImageRef, with what templates make of them: only
// tags of images count.
func TestImages(t *testing.T) {
	fsys := release()
	render := func(tags string) string {
		fsys["release-manifests/image-references"] = &fstest.MapFile{Data: []byte(
			"kind: ImageStream\napiVersion: image.openshift.io/v1\nmetadata:\n  name: 4.20.1\nspec:\n  tags: " + tags + "\n")}
		fsys["manifests/0000_00_a_x.yaml"] = &fstest.MapFile{Data: []byte(
			"kind: A\nmetadata:\n  name: a\nspec: '{{index .Images \"one\"}}|{{index .Images \"two\"}}|{{- \"\" }} {{.ReleaseImage}}'\n")}
		p, err := payload.Load(fsys, &payload.Options{ReleaseImage: "R"})
		if err != nil {
			t.Fatal(err)
		}
		_, spec, _ := strings.Cut(string(p.Manifests[0].JSON), `"spec":`)
		return spec
	}
	for tags, want := range map[string]string{
		"[]": `"|| R"}`,
		"[{name: one, from: {kind: DockerImage, name: q/one@sha256:1}}]":                                                                    `"q/one@sha256:1|| R"}`,
		"[{name: one, from: {kind: ImageStreamTag, name: other}}, {name: two, from: {kind: DockerImage, name: q/two@sha256:2}}, {name: x}]": `"|q/two@sha256:2| R"}`,
	} {
		if got := render(tags); got != want {
			t.Errorf("%s: %s, want %s", tags, got, want)
		}
	}
}

// TestUnknownTemplates: text in quotes and the three values are all that is filled in. A file
// with anything else is left out, with a warning: half a template would be another manifest.
func TestUnknownTemplates(t *testing.T) {
	for action, want := range map[string]string{
		`{{"text"}}`: "text", `{{.ReleaseImage}}`: "R", `{{.ClusterProfile}}`: "P", `{{index .Images "none"}}`: "", `{{/* a comment */}}`: "",
		`{{$x := "text"}}`: "unknown", `{{"text" | print}}`: "unknown", `{{"text" "more"}}`: "unknown", `{{print "text"}}`: "unknown", `{{42}}`: "unknown", `{{$}}`: "unknown",
		`{{.Other}}`: "unknown", `{{.ReleaseImage.Tag}}`: "unknown", `{{.ReleaseImage "more"}}`: "unknown", `{{.ReleaseImage | print}}`: "unknown",
		`{{index .Images}}`: "unknown", `{{index .Other "none"}}`: "unknown", `{{index .Images 1}}`: "unknown", `{{index .Images "a" "b"}}`: "unknown", `{{slice .Images "none"}}`: "unknown",
		`{{if .ReleaseImage}}text{{end}}`: "unknown",
	} {
		fsys := payloadOf()
		fsys["manifests/0000_00_a_x.yaml"] = &fstest.MapFile{Data: []byte(resource("v1 ConfigMap default a") + "data:\n  k: '==" + action + "=='\n")}
		p, err := payload.Load(fsys, &payload.Options{ReleaseImage: "R", Profile: "P"})
		if err != nil {
			t.Fatalf("%s: %v", action, err)
		}
		got := "unknown"
		if len(p.Manifests) == 1 {
			_, got, _ = strings.Cut(string(p.Manifests[0].JSON), "==")
			got, _, _ = strings.Cut(got, "==")
		}
		warned := slices.ContainsFunc(p.Warnings, func(d *payload.Diagnostic) bool { return d.Code == payload.LintTemplate })
		if got != want || warned != (want == "unknown") {
			t.Errorf("%s: %q, want %q; warnings: %v", action, got, want, p.Warnings)
		}
	}
}
