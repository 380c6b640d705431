package extension_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// TestScripts runs the scripts of testdata. The commands:
//
//	bundle                        what a bundle holds: JSON objects, one a line
//	modes MODE...                 a bundle with these install modes and nothing else
//	targets [NAMESPACE|all]       what it would watch, in namespace ns
//	render [full] [certificates=P] its objects, with the settings below as JSON; full with what
//	                              they say, or with those of the kind that full names
//	preflight                     what stands against it, with an extension as JSON
//	crd                           a CRD that exists, JSON
//	role NAMESPACE|cluster        rules that account "installer" has, JSON
//	question                      what an extension asks the resolver, as JSON
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		s := &script{t: t, words: words}
		return s.command
	})
}

type script struct {
	t       *testing.T
	words   *golden.Words
	bundle  *extension.Bundle
	objects []extension.Object
	cluster extension.Cluster
}

func (s *script) command(c *golden.Command) string {
	switch c.Name {
	case "bundle":
		var manifests []json.RawMessage
		for line := range strings.Lines(c.Input) {
			manifests = append(manifests, json.RawMessage(strings.TrimSpace(line)))
		}
		return s.read(manifests)
	case "modes":
		var modes []string
		for _, a := range c.Args {
			modes = append(modes, fmt.Sprintf(`{"type":%q,"supported":true}`, a.Key))
		}
		return s.read([]json.RawMessage{json.RawMessage(`{"kind":"ClusterServiceVersion","metadata":{"name":"a.v1"},"spec":{"installModes":[` + strings.Join(modes, ",") + `]}}`)})
	case "targets":
		var watch *string
		if len(c.Args) > 0 {
			watch = new(string)
			if *watch = c.Args[0].Key; *watch == "all" {
				*watch = ""
			}
		}
		list, err := s.bundle.Targets("ns", watch)
		if err != nil {
			return s.refused(err.Error())
		}
		return fmt.Sprintf("%q", list)
	case "render":
		return s.render(c)
	case "crd":
		var d crd.Definition
		if err := json.Unmarshal([]byte(c.Input), &d); err != nil {
			return s.refused(err.Error())
		}
		s.cluster.CRDs = append(s.cluster.CRDs, d)
	case "role":
		s.cluster.Accounts = []scope.Account{{Namespace: "ns", Name: "installer"}}
		r := scope.Role{}
		if err := json.Unmarshal([]byte(c.Input), &r.Rules); err != nil {
			return s.refused(err.Error())
		}
		kind := "ClusterRole"
		r.Name = fmt.Sprintf("role-%d", len(s.cluster.Access.Roles))
		if namespace := c.Args[0].Key; namespace != "cluster" {
			kind, r.Namespace = "Role", namespace
		}
		b := scope.Binding{RoleRef: scope.RoleRef{Kind: kind, Name: r.Name}, Subjects: []scope.Subject{{Kind: "ServiceAccount", Name: "installer", Namespace: "ns"}}}
		b.Name, b.Namespace = r.Name, r.Namespace
		s.cluster.Access.Roles, s.cluster.Access.Bindings = append(s.cluster.Access.Roles, r), append(s.cluster.Access.Bindings, b)
	case "preflight":
		x := extensionOf(c.Input)
		problems, err := extension.Preflight(x, s.objects, &s.cluster)
		if err != nil {
			return s.refused(err.Error())
		}
		if problems == nil {
			return "nothing stands against it"
		}
		return s.refused(strings.Join(problems, "\n"))
	case "question":
		q, err := extension.QuestionOf(extensionOf(c.Input))
		if err != nil {
			return s.refused(err.Error())
		}
		text := fmt.Sprintf("package %s version %q channels %q selfCertified %v", q.Package, q.Version, q.Channels, q.SelfCertified)
		if q.Installed != nil {
			text += fmt.Sprintf(" installed %s %s", q.Installed.Name, q.Installed.Version)
		}
		for _, name := range []string{"one", "two"} {
			cat := extension.ClusterCatalog{}
			cat.Name, cat.Labels = name, map[string]string{"tier": name}
			if src := extension.SourceOf(&cat); q.Catalogs != nil && q.Catalogs(&src) {
				text += " from " + name
			}
		}
		return text
	default:
		s.t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
	}
	return "ok"
}

func extensionOf(text string) *extension.ClusterExtension {
	x := &extension.ClusterExtension{}
	if err := json.Unmarshal([]byte(text), x); err != nil {
		x.Spec.Source.SourceType = err.Error()
	}
	return x
}

func (s *script) read(manifests []json.RawMessage) string {
	b, err := extension.ReadBundle(manifests)
	if err != nil {
		return s.refused(err.Error())
	}
	s.bundle = b
	return "ok"
}

func (s *script) render(c *golden.Command) string {
	settings, err := extension.ReadSettings(nil)
	if strings.TrimSpace(c.Input) != "" {
		settings, err = extension.ReadSettings(&extension.BundleConfig{ConfigType: "Inline", Inline: json.RawMessage(c.Input)})
	}
	if err != nil {
		return s.refused(err.Error())
	}
	settings.Certificates = extension.CertificateProvider(c.Value("certificates"))
	if s.objects, err = s.bundle.Render("ns", settings); err != nil {
		return s.refused(err.Error())
	}
	var b strings.Builder
	for _, o := range s.objects {
		if only := c.Value("full"); only != "" && only != o.Kind {
			continue
		}
		fmt.Fprintln(&b, o)
		if c.Has("full") {
			fmt.Fprintf(&b, "  %s\n", o.Manifest)
		}
	}
	return b.String()
}

// refused returns the data of each line of a refusal.
func (s *script) refused(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, "refused"+s.words.Data("Refused", line))
	}
	return strings.Join(lines, "\n")
}

// FuzzBundle wants whatever a bundle holds to be refused, or rendered the same
// twice.
func FuzzBundle(f *testing.F) {
	f.Add([]byte(`{"kind":"ClusterServiceVersion","metadata":{"name":"a"},"spec":{"installModes":[{"type":"AllNamespaces","supported":true}],"install":{"spec":{"permissions":[{"rules":null}],"deployments":[{"name":"d","spec":{"template":3}}]}}}}`), []byte(`{"kind":"ConfigMap","metadata":{"name":"c"},"data":null}`))
	f.Add([]byte(`{"kind":"ClusterServiceVersion","metadata":null}`), []byte(`null`))
	f.Fuzz(func(t *testing.T, csv, other []byte) {
		b, err := extension.ReadBundle([]json.RawMessage{csv, other})
		if err != nil {
			return
		}
		first, err := b.Render("ns", extension.Settings{})
		again, second := b.Render("ns", extension.Settings{})
		if fmt.Sprint(first, err) != fmt.Sprint(again, second) {
			t.Errorf("got %v, %v\nthen %v, %v", first, err, again, second)
		}
	})
}
