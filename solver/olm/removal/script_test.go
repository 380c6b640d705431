package removal_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/removal"
)

// TestScripts runs the scenarios of testdata. The input of the commands uninstall,
// refresh and replace has one item per line, all in namespace ops:
//
//	sub NAME package=P current=CSV installed=CSV channel=C source=S
//	csv NAME replaces=CSV owns=K.v.g needs=K.v.g provides=P requires=P copied
//	constraint CSV JSON                         an olm.constraint property of the CSV
//	object CSV GROUP/KIND NAME
//	crd CSV NAME COUNT
//	unpack NAME CSV [failed]
//	old GROUP/KIND NAME, new GROUP/KIND NAME    of two bundles
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			s := parse(t, c)
			switch c.Name {
			case "uninstall":
				p, err := removal.Uninstall(&s.world, c.Args[0].Key)
				return printPlan(p, err, words)
			case "refresh":
				p, again, err := removal.Refresh(&s.world, c.Args[0].Key)
				if err != nil {
					return printPlan(p, err, words)
				}
				return printPlan(p, nil, words) + fmt.Sprintf("then %s with status %+v\n", again.Name, again.Status.CurrentCSV)
			case "replace":
				return printPlan(&removal.Plan{Steps: removal.Replace(s.old, s.new)}, nil, words)
			}
			t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
			return ""
		}
	})
}

type scene struct {
	world    removal.World
	old, new []removal.Object
}

func parse(t *testing.T, c *golden.Command) *scene {
	s := &scene{world: removal.World{Judge: &olm.Constraints{}, Objects: map[string][]removal.Object{}, CRDs: map[string][]string{}, Resources: map[string]int{}}}
	w := &s.world
	for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "sub":
			w.Subscriptions = append(w.Subscriptions, parseSub(words[1:]))
		case "csv":
			w.CSVs = append(w.CSVs, parseCSV(words[1:]))
		case "constraint":
			c := &w.CSVs[len(w.CSVs)-1]
			note := strings.TrimSuffix(c.Annotations[olm.PropertiesAnnotation], "]}")
			if note == "" {
				note = `{"properties":[`
			} else {
				note += ","
			}
			c.Annotations = map[string]string{olm.PropertiesAnnotation: note + `{"type":"olm.constraint","value":` + strings.Join(words[2:], " ") + "}]}"}
		case "object":
			w.Objects[words[1]] = append(w.Objects[words[1]], object(words[2:]))
		case "crd":
			w.CRDs[words[1]] = append(w.CRDs[words[1]], words[2])
			n, err := strconv.Atoi(words[3])
			if err != nil {
				t.Fatal(err)
			}
			w.Resources[words[2]] = n
		case "unpack":
			w.Unpackings = append(w.Unpackings, removal.Unpacking{Namespace: "market", Name: words[1], Bundle: words[2], Failed: len(words) > 3})
		case "old":
			s.old = append(s.old, object(words[1:]))
		case "new":
			s.new = append(s.new, object(words[1:]))
		default:
			t.Fatalf("%s: no such line: %s", c.Pos, line)
		}
	}
	return s
}

func object(words []string) removal.Object {
	group, kind, _ := strings.Cut(words[0], "/")
	return removal.Object{Group: group, Kind: kind, Namespace: "ops", Name: words[1]}
}

func parseSub(words []string) olm.Subscription {
	sub := olm.Subscription{ObjectMeta: olm.ObjectMeta{Name: words[0], Namespace: "ops"}}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "package":
			sub.Spec.Package = value
		case "current":
			sub.Status.CurrentCSV = value
		case "installed":
			sub.Status.InstalledCSV = value
		case "channel":
			sub.Spec.Channel = value
		case "source":
			sub.Spec.Source, sub.Spec.SourceNamespace = value, "market"
		}
	}
	return sub
}

func parseCSV(words []string) olm.ClusterServiceVersion {
	csv := olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Name: words[0], Namespace: "ops"}}
	var props []string
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "replaces":
			csv.Spec.Replaces = value
		case "owns", "needs":
			parts := strings.SplitN(value, ".", 3)
			d := olm.CRDDescription{Name: strings.ToLower(parts[0]) + "s." + parts[2], Version: parts[1], Kind: parts[0]}
			if key == "owns" {
				csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned, d)
			} else {
				csv.Spec.CustomResourceDefinitions.Required = append(csv.Spec.CustomResourceDefinitions.Required, d)
			}
		case "provides":
			props = append(props, fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":"1.0.0"}}`, value))
		case "requires":
			props = append(props, fmt.Sprintf(`{"type":"olm.package.required","value":{"packageName":%q,"versionRange":">0.1.0"}}`, value))
		case "copied":
			csv.Status.Reason = olm.ReasonCopied
		}
	}
	if props != nil {
		csv.Annotations = map[string]string{olm.PropertiesAnnotation: `{"properties":[` + strings.Join(props, ",") + `]}`}
	}
	return csv
}

func printPlan(p *removal.Plan, err error, words *golden.Words) string {
	if err != nil {
		return "error" + words.Data("Error", err.Error())
	}
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%s %s%s\n", s.Verb, s.Object, words.Data(string(s.Verb), s.Why))
	}
	for _, r := range p.Stays {
		fmt.Fprintf(&b, "stays %s%s\n", r.Object, words.Data("stays", r.Why))
	}
	for _, d := range p.Dependents {
		fmt.Fprintf(&b, "%s requires %s\n", d.Operator, strings.Join(d.Requires, ", "))
	}
	return b.String()
}

func TestNotFound(t *testing.T) {
	_, _, err := removal.Refresh(&removal.World{}, "eagle")
	var missing *removal.NotFoundError
	if !errors.As(err, &missing) || missing.Subscription != "eagle" || !strings.Contains(err.Error(), "nor does any other") {
		t.Errorf("%v", err)
	}
}
