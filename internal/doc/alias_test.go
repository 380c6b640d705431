package doc_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
)

// Aliases that repeat aliases, or long texts, or are merged, cannot make a large document of a
// short one, whatever the other limits are.
func TestAliasesInProportion(t *testing.T) {
	nested := func(format, join string) string {
		var b strings.Builder
		for i := 1; i < 10; i++ {
			refs := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d%s", i-1, join), 10), join)
			fmt.Fprintf(&b, format, i, i, refs)
		}
		return b.String()
	}
	long := strings.Repeat("x", 100_000)
	for name, text := range map[string]string{
		"lists":        "a0: &a0 [x, x, x]\n" + nested("a%d: &a%d [%s]\n", ","),
		"merges":       "a0: &a0 {k: v}\n" + nested("a%d: &a%d {<<: [%s]}\n", ","),
		"mappings":     "a0: &a0 {k: v}\n" + strings.ReplaceAll(nested("a%d: &a%d [%s]\n", ","), "[", "[{k: 1}, "),
		"long texts":   "a: &a " + long + "\nb: [" + strings.Repeat("*a,", 2000) + "]\n",
		"many aliases": "a: &a [" + strings.Repeat("x,", 1000) + "]\nb: [" + strings.Repeat("*a,", 1000) + "]\n",
	} {
		_, err := doc.NewReader(strings.NewReader(text), "bomb.yaml", doc.Limits{Size: 1 << 30, Nodes: 1 << 30}).Next()
		var limit *doc.LimitError
		if !errors.As(err, &limit) || limit.What != doc.AliasLimit {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What people write is read: a few anchors used again and again.
func TestAliasesOfPeople(t *testing.T) {
	text := "base: &base {cpu: 1, memory: 2Gi, args: [a, b, c]}\nitems:\n" + strings.Repeat("- {<<: *base, name: x, like: *base}\n", 5000)
	r := doc.NewReader(strings.NewReader(text), "people.yaml", doc.Limits{})
	d, err := r.Next()
	if err != nil || len(d.JSON) < 5000*60 {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
}
