package doc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
)

// goodYAML is a document as people write them.
const goodYAML = `schema: olm.bundle
# the first one
name: kiln.v1.0.0
package: kiln
image: registry.example/kiln:1.0.0
properties:
- type: olm.package
  value:
    packageName: kiln
    version: 1.0.0
- type: olm.gvk
  value: {group: kiln.example, kind: Kiln, version: v1}
- type: olm.csv.metadata
  value:
    annotations:
      description: "Fires clay, slowly"
      list: 'a, b'
    description: |
      # Kiln
      It is: hot
    keywords:
    - clay
    - fire
relatedImages:
- name: ""
  image: registry.example/kiln:1.0.0
- name: other
  image: registry.example/other@sha256:00
`

// slips are typing mistakes in a line; each returns the line unchanged if it
// does not apply.
var slips = map[string]func(line string) string{
	"tab":     func(l string) string { return "\t" + l },
	"quote":   func(l string) string { return strings.Replace(l, `"Fires`, `"Fi"res`, 1) },
	"open":    func(l string) string { return strings.Replace(l, `clay, slowly"`, `clay, slowly`, 1) },
	"bracket": func(l string) string { return strings.Replace(l, "v1}", "v1", 1) },
	"colon": func(l string) string {
		if strings.Contains(l, "#") || strings.Contains(l, "hot") {
			return l
		}
		return strings.Replace(l, ": ", " ", 1)
	},
	"two colons": func(l string) string { return strings.Replace(l, "name: ", "name: : ", 1) },
	"at sign":    func(l string) string { return strings.Replace(l, ": kiln", ": @kiln", 1) },
	"outdent":    func(l string) string { return strings.Replace(l, "    version: 1.0.0", "   version: 1.0.0", 1) },
	"indent":     func(l string) string { return strings.Replace(l, "package: kiln", " package: kiln", 1) },
}

// TestSyntaxPosition checks that the position of a syntax error is the line
// with the slip, or the one after it.
func TestSyntaxPosition(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(goodYAML, "\n"), "\n")
	total, right := 0, 0
	for name, slip := range slips {
		for i := range lines {
			wrong := slip(lines[i])
			if wrong == lines[i] {
				continue
			}
			before := i % 3
			text := strings.Repeat("# comment\n", before)
			for k, l := range lines {
				if k == i {
					l = wrong
				}
				text += l + "\n"
			}
			_, err := doc.NewReader(strings.NewReader(text), "f", doc.Limits{}).Next()
			var fault *doc.Error
			if err == nil || !errors.As(err, &fault) || fault.Kind != doc.Syntax {
				continue // it is valid YAML anyway, or another fault
			}
			total++
			if want := before + i + 1; fault.Pos.Line == want || fault.Pos.Line == want+1 {
				right++
			} else {
				t.Logf("%s in line %d: %q: %v", name, want, wrong, err)
			}
		}
	}
	if total < 40 || right*20 < total*19 {
		t.Errorf("%d of %d positions are where the slip is", right, total)
	}
}
