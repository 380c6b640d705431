package doc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
)

func TestGlimpse(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"name: a\nname: b\n", []string{"a", "b"}},
		{"# c\n---\nschema: olm.package\nNAME: 'a' # x\nspec:\n  name: c\n\tbad", []string{"a"}},
		{"  name: a\n  spec:\n    name: b\n", []string{"a"}},
		{"name: 1.10\n", nil},
		{"name: {a: b}\n", nil},
		{"name:\n", nil},
		{`{"schema": "s", "name": "a", "x": {"name": "b"}, "name": "c"`, []string{"a", "c"}},
		{`{"list": [{"name": "b"}, {"name": "b"}], "name": "a" "x"}`, []string{"a"}},
		{`{"name": "a\"b", oops`, []string{`a"b`}},
		{`{"name": null}`, nil},
		{`{"name": ["a"]}`, nil},
		{`{name: a, schema: b`, []string{"a"}},
		{`{"name": "cut`, []string{"cut"}},
		{`{"a": "name", "b": ":", "name": "x"}`, []string{"x"}},
		{"{", nil}, {"", nil}, {`{"name":`, nil}, {`{"name":"`, nil}, {`{"name":"\`, []string{`\`}}, {"name: \"", nil},
	} {
		if got := doc.Glimpse([]byte(c.text), "name"); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// TestFaulty checks that the reader returns the source of documents that it
// cannot read.
func TestFaulty(t *testing.T) {
	text := "{\"name\": \"a\", \"name\": \"b\"}\n---\nname: c\nname: d\n---\nname: e\n"
	r := doc.NewReader(strings.NewReader(text), "f", doc.Limits{})
	var got []string
	for range 3 {
		d, err := r.Next()
		if err != nil {
			got = append(got, doc.Glimpse(r.Faulty(), "name")...)
		} else if d == nil || r.Faulty() != nil {
			t.Error("a good document has a faulty source")
		}
	}
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzGlimpse(f *testing.F) {
	for _, text := range []string{"name: a", `{"name": "a"}`, `{"name": '`, "{\\", `{"\`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { doc.Glimpse(text, "name") })
}
