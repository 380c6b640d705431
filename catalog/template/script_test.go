package template_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/template"
	"github.com/fairlead/fairlead/internal/golden"
)

// renderer renders references of the form PACKAGE@VERSION with options behind
// them: PACKAGE@VERSION,name=N,release=R,twice,none,fail...
func renderer(_ context.Context, ref string) ([]template.Bundle, error) {
	spec, options, _ := strings.Cut(ref, ",")
	pkg, version, _ := strings.Cut(spec, "@")
	name := pkg + ".v" + version
	property := map[string]string{"packageName": pkg, "version": version}
	doc := map[string]any{"schema": "olm.bundle", "package": pkg, "image": "example.com/" + pkg}
	props := []any{map[string]any{"type": "olm.package", "value": property}}
	var csv json.RawMessage
	count := 1
	for option := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "":
		case "name":
			name = value
		case "release":
			property["release"] = value
		case "twice":
			count = 2
		case "none":
			count = 0
		case "fail":
			return nil, errors.New("no such image")
		case "broken":
			return []template.Bundle{{JSON: json.RawMessage(value)}}, nil
		case "no-package":
			props = nil
		case "two-packages":
			props = append(props, props[0])
		case "bad-package":
			props = []any{map[string]any{"type": "olm.package", "value": 1}}
		case "csv":
			csv = json.RawMessage(csvs[value])
		case "object":
			props = append(props, map[string]any{"type": "olm.bundle.object", "value": map[string]any{"data": []byte(csvs[value])}})
		case "metadata":
			props = append(props, map[string]any{"type": "olm.csv.metadata", "value": json.RawMessage(csvs[value])})
		default:
			return nil, fmt.Errorf("there is no option %q", key)
		}
	}
	doc["name"], doc["properties"] = name, props
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	all := make([]template.Bundle, count)
	for i := range all {
		all[i] = template.Bundle{JSON: text, CSV: csv}
	}
	return all, nil
}

// csvs are the CSVs and CSV metadata that options name.
var csvs = map[string]string{
	"full":        `{"kind":"ClusterServiceVersion","spec":{"description":"Digs.","icon":[{"base64data":"` + base64.StdEncoding.EncodeToString([]byte("png")) + `","mediatype":"image/png"},{"base64data":"","mediatype":"other"}]}}`,
	"plain":       `{"kind":"ClusterServiceVersion","spec":{"description":""}}`,
	"no-icons":    `{"kind":"ClusterServiceVersion","spec":{"description":"Digs.","icon":[]}}`,
	"bad-icon":    `{"kind":"ClusterServiceVersion","spec":{"icon":[{"base64data":"%","mediatype":"image/png"}]}}`,
	"bad":         `{"kind":`,
	"described":   `{"description":"Digs, says the metadata."}`,
	"substitutes": `{"annotations":{"olm.substitutesFor":"x"}}`,
	"other-kind":  `{"kind":"Service","spec":{"description":"no"}}`,
}

func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words/template.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			text := strings.ReplaceAll(c.Input, "<separator>", "---")
			tmpl, err := template.Parse([]byte(text), &template.Options{File: "t.yaml", Type: c.Value("type")})
			if err != nil {
				return problem(words, err)
			}
			if c.Name == "parse" {
				return fmt.Sprintf("%s %q", tmpl.Schema(), tmpl.References())
			}
			r, err := tmpl.Render(context.Background(), renderer)
			if err != nil {
				return problem(words, err)
			}
			return result(t, words, r, c.Name == "json")
		}
	})
}

func problem(words *golden.Words, err error) string {
	var ds catalog.Diagnostics
	if !errors.As(err, &ds) {
		return words.Say(err.Error())
	}
	var out strings.Builder
	for _, d := range ds {
		fmt.Fprintln(&out, words.Finding(d))
	}
	return out.String()
}

// result prints the documents tersely, or as they are.
func result(t *testing.T, words *golden.Words, r *template.Result, full bool) string {
	var out strings.Builder
	for _, raw := range r.Documents {
		var d struct {
			Schema, Name, Package, DefaultChannel, Description string
			Icon                                               *struct{ MediaType string }
			Entries                                            []catalog.Entry
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		switch {
		case full:
			fmt.Fprintf(&out, "%s\n", raw)
		case d.Schema == "olm.package":
			fmt.Fprintf(&out, "package %s default %s", d.Name, d.DefaultChannel)
			if d.Description != "" {
				fmt.Fprintf(&out, " description %q", d.Description)
			}
			if d.Icon != nil {
				fmt.Fprintf(&out, " icon %s", d.Icon.MediaType)
			}
			out.WriteByte('\n')
		case d.Schema == "olm.channel":
			fmt.Fprintf(&out, "channel %s:", d.Name)
			for _, e := range d.Entries {
				fmt.Fprintf(&out, " %s", e.Name)
				if e.Replaces != "" {
					fmt.Fprintf(&out, " replaces %s", e.Replaces)
				}
				if len(e.Skips) > 0 {
					fmt.Fprintf(&out, " skips %v", e.Skips)
				}
				if e.SkipRange != "" {
					fmt.Fprintf(&out, " skipRange %s", e.SkipRange)
				}
				out.WriteByte(';')
			}
			out.WriteByte('\n')
		default:
			fmt.Fprintf(&out, "%s %s\n", d.Schema, d.Name)
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&out, "warning: %s\n", words.Finding(w))
	}
	return out.String()
}
