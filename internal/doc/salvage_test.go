package doc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
)

// TestSalvage checks that of a list everything but the damaged elements is read, where it is.
func TestSalvage(t *testing.T) {
	pretty := "{\n \"kind\": \"List\",\n \"items\": [\n  {\n   \"n\": 1\n  },\n  {\n   \"n\": 2\n  },\n  {\n   \"n\": 3\n  }\n ]\n}\n"
	block := "apiVersion: v1\nitems:\n- n: 1\n  m: a\n- n: 2\n  m: b\n- n: 3\n  m: c\nkind: List\n"
	for _, c := range []struct{ name, text, want, lost string }{
		{"whole", pretty, "1 2 3", ""},
		{"damaged element", strings.Replace(pretty, `"n": 2`, `"n" 2`, 1), "1 3", "8"},
		{"damaged first element", strings.Replace(pretty, `"n": 1`, `"n": 1"`, 1), "2 3", "5"},
		{"damaged last element", strings.Replace(pretty, `"n": 3`, `"n: 3`, 1), "1 2", "11"},
		{"two damaged elements", strings.NewReplacer(`"n": 3`, `"n": `, `"n": 1`, `x`).Replace(pretty), "2", "5 12"},
		{"cut", pretty[:strings.Index(pretty, "2")+1], "1", "8 cut"},
		{"cut between elements", pretty[:strings.Index(pretty, "2\n")+5], "1 2", "9 cut"},
		{"cut in one line", `{"kind":"List","items":[{"n":1},{"n":2},{"n":`, "1 2", "1 cut"},
		{"no list", "{\n \"kind\": \"Pod\",\n \"n\" 3\n}\n", "", ""},
		{"block, damaged element", strings.Replace(block, "m: b", "m: b: c", 1), "1 3", "6"},
		{"block, damaged last element", strings.Replace(block, "m: c", "m: \"c", 1), "1 2", "8"},
		{"flow, cut", "{kind: List, items: [{n: 1, s: 'a]'}, {n: 2, s: it's}, {n: ", "1 2", "1 cut"},
		{"flow, cut between elements", "{kind: List, items: [\n {n: 1}, {n: 2},\n", "1 2", "2 cut"},
		{"flow, cut in the first element", "{kind: List, items: [{n: ", "", ""},
		{"two outputs without a marker", block + strings.NewReplacer("1", "4", "2", "5", "3", "6").Replace(block), "1 2 3 4 5 6", ""},
	} {
		r := doc.NewReader(strings.NewReader(c.text), "f", doc.Limits{})
		r.Lenient()
		r.Salvage()
		var got, lost []string
		for {
			d, err := r.Next()
			if d == nil {
				if c.name != "no list" && c.want != "" && err.Error() != "EOF" {
					t.Errorf("%s: %v", c.name, err)
				}
				break
			}
			items, _ := d.Field(d.Root(), "items")
			for n := range d.Children(items) {
				v, _ := d.Field(d.Children(n), "n")
				got = append(got, string(d.Value(v)))
				if at := d.Position(n.Start); !strings.Contains(strings.Split(c.text, "\n")[max(at.Line-1, 0)], "n: ") && d.Format == doc.YAML {
					t.Errorf("%s: an element is in line %d", c.name, at.Line)
				}
			}
			for _, l := range d.Lost {
				text := fmt.Sprint(l.Err.Pos.Line)
				if l.Cut {
					text += " cut"
				}
				lost = append(lost, text)
			}
		}
		if strings.Join(got, " ") != c.want || strings.Join(lost, " ") != c.lost {
			t.Errorf("%s: %q, lost %q", c.name, got, lost)
		}
	}
}
