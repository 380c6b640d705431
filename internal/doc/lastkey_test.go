package doc

import (
	"io"
	"strings"
	"testing"
)

// TestLenient checks that of duplicate keys the last counts if that was
// requested, in YAML and in JSON, and that they are an error otherwise.
func TestLenient(t *testing.T) {
	for _, c := range []struct{ text, want, repeats string }{
		{"a: 1\nb: 2\na: 3\n", `{"b":2,"a":3}`, "f:3:1 a"},
		{"m:\n  x: 1\n  x: 2\n  x: 3\n", `{"m":{"x":3}}`, "f:4:3 x"},
		{`{"a": 1, "b": {"c": 1, "c": [2]}}`, `{"a": 1, "b": {"c": [2]}}`, "f:1:24 c"},
		{`{"a": {"c": 1, "c": 2}, "\u0061": [{"x": 1, "x": 2, "y": 3, "x":
 4}]} `, `{"\u0061": [{"y": 3, "x":
 4}]}`, "f:1:25 a f:1:45 x f:1:61 x"},
		{"a: 1\n\"a\": yes\n", `{"a":true}`, "f:2:1 a"},
		{"a: 1\nb: 2\n", `{"a":1,"b":2}`, ""},
		{"null\n---\n~\n---\na: 1\n", `{"a":1}`, ""},
	} {
		strict := NewReader(strings.NewReader(c.text), "f", Limits{})
		if _, err := strict.Next(); (err == nil) != (c.text == "a: 1\nb: 2\n") {
			t.Errorf("%q: strict: %v", c.text, err)
		}
		r := NewReader(strings.NewReader(c.text), "f", Limits{})
		r.YAML11()
		r.Lenient()
		d, err := r.Next()
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var repeats []string
		for _, k := range d.Repeats() {
			repeats = append(repeats, k.Pos.String()+" "+k.Key)
		}
		if got := strings.Join(repeats, " "); string(d.JSON) != c.want || got != c.repeats {
			t.Errorf("%q: %s, repeats %q; want %s, %q", c.text, d.JSON, got, c.want, c.repeats)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%q: then %v", c.text, err)
		}
	}
}

// TestRepeatedPlaces checks that values of an object that lost members keep their place,
// after Load and in a copy, too.
func TestRepeatedPlaces(t *testing.T) {
	text := `{"a": 1, "b": {"c": 1, "c": [2]}, "a": 3,
 "a": {"d": 4}}`
	r := NewReader(strings.NewReader(text), "f", Limits{})
	r.LastKeys()
	read, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := Load([]byte(text), read.Start, JSON)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Document{read, read.Clone(), loaded} {
		for _, value := range []string{"[2]", `"d"`, "4"} {
			at := strings.Index(string(d.JSON), value)
			want := after(d.Start, []byte(text[:strings.Index(text, value)]))
			if got := d.Position(at); got != want || !strings.HasPrefix(text[d.Source(at):], value) {
				t.Errorf("%s: at %v and %d, want %v", value, got, d.Source(at), want)
			}
		}
		if n, ok := d.Field(d.Root(), "a"); !ok || string(d.Value(n)) != `{"d": 4}` {
			t.Errorf("a is %s", d.Value(n))
		}
	}
}
