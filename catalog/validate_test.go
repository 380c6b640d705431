package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/golden"
)

// scriptFiles reads the input of a script command as files: a line
// "-- path --" begins one; what stands before the first is catalog.yaml.
func scriptFiles(input string) fstest.MapFS {
	fsys := fstest.MapFS{}
	file := &fstest.MapFile{}
	for line := range strings.Lines(input) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			file = &fstest.MapFile{}
			fsys[strings.TrimSuffix(name, " --\n")] = file
			continue
		}
		file.Data = append(file.Data, line...)
		if len(fsys) == 0 {
			fsys["catalog.yaml"] = file
		}
	}
	return fsys
}

// TestValidateScripts runs the scripts of validation: "validate" prints the
// findings and "----" the verdict of opm in its words, "opm" only that.
func TestValidateScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words/validate.txt")
	golden.Run(t, "testdata/validate/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			_, report, err := check.Open(context.Background(), scriptFiles(c.Input), nil)
			if err != nil {
				return "error: " + err.Error()
			}
			var out strings.Builder
			for _, d := range report.Findings() {
				fmt.Fprintln(&out, words.Finding(d))
			}
			if report.Valid() {
				out.WriteString("valid\n")
			}
			if text := report.OPM(); text != "" {
				out.WriteString("opm: " + text)
			}
			return out.String()
		}
	})
}

// TestValidateAgain validates a catalog that was opened without a check.
func TestValidateAgain(t *testing.T) {
	fsys := fstest.MapFS{"a.yaml": {Data: []byte(`
schema: olm.package
name: a
defaultChannel: c
---
schema: olm.channel
name: c
package: a
entries: [{name: a.v1}]
---
schema: olm.bundle
name: a.v1
package: a
image: "quay.io/a/a@"
relatedImages: [{image: "quay.io/a/a:1"}, {image: "Quay.io/A"}]
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
- {type: olm.csv.metadata, value: {annotations: {a: 1}}}
- {type: custom}
`)}}
	_, want, err := check.Open(context.Background(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(context.Background(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := check.Catalog(context.Background(), c, &check.Options{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Findings()) != 4 || fmt.Sprint(got.Findings()) != fmt.Sprint(want.Findings()) || got.OPM() != want.OPM() {
		t.Errorf("got %v, want %v", got.Err(), want.Err())
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	if _, err := check.Catalog(ctx, c, nil); err == nil || err.Error() != "enough" {
		t.Errorf("cancelled: %v", err)
	}
}
