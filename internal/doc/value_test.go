package doc_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
)

// documents reads all documents of a text as YAML 1.1.
func documents(t testing.TB, text string) []*doc.Document {
	t.Helper()
	r := doc.NewReader(strings.NewReader(text), "f.yaml", doc.Limits{})
	r.YAML11()
	var all []*doc.Document
	for {
		d, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d.Clone())
	}
}

func TestYAML11(t *testing.T) {
	for _, c := range []struct{ in, want, truths string }{
		{"a: yes\nb: 'yes'\nc: !!str yes\nd: off", `{"a":true,"b":"yes","c":"yes","d":false}`, "1:4 yes, 4:4 off"},
		{"y: 1\nx: 2", `{"true":1,"x":2}`, "1:1 y"},
		{"0x1F: a\n1.50: b\ntrue: c\n2001-01-02: d", `{"31":"a","1.5":"b","true":"c","2001-01-02":"d"}`, ""},
		{"a: !!binary aGVsbG8=", `{"a":"hello"}`, ""},
		{"a: &x [on]\nb: *x", `{"a":[true],"b":[true]}`, "1:8 on"},
	} {
		d := documents(t, c.in)[0]
		var truths []string
		for _, w := range d.Truths() {
			truths = append(truths, fmt.Sprintf("%d:%d %s", w.Pos.Line, w.Pos.Column, w.Word))
		}
		if got := strings.Join(truths, ", "); string(d.JSON) != c.want || got != c.truths {
			t.Errorf("%q: %s (%s), want %s (%s)", c.in, d.JSON, got, c.want, c.truths)
		}
	}
	r := doc.NewReader(strings.NewReader("a: yes\n~: b"), "f.yaml", doc.Limits{})
	if d, err := r.Next(); err != nil || string(d.JSON) != `{"a":"yes","~":"b"}` || len(d.Truths()) != 0 {
		t.Errorf("without YAML11: %v %v", d, err)
	}
	r = doc.NewReader(strings.NewReader("~: b"), "f.yaml", doc.Limits{})
	r.YAML11()
	if _, err := r.Next(); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:1:1: a key is null") {
		t.Errorf("a null key: %v", err)
	}
}

func TestCloneOutlivesNext(t *testing.T) {
	all := documents(t, "a: 1\n---\n{\"b\": 2}\n---\nlonger: [yes]\n")
	for i, want := range []string{`{"a":1}`, `{"b": 2}`, `{"longer":[true]}`} {
		if string(all[i].JSON) != want {
			t.Errorf("document %d is %s, want %s", i, all[i].JSON, want)
		}
	}
	if got := all[1].Position(1); got.Line != 3 || got.Column != 2 {
		t.Errorf("position %v, want 3:2", got)
	}
}

func TestTree(t *testing.T) {
	text := ` {"a": {"b\u0063": [1, -2.5e3, "x\ny"]}, "n": null, "t": true, "a2": {}, "l": [] } `
	v := doc.Tree([]byte(text))
	for _, c := range []struct {
		path []any
		want string
	}{
		{nil, strings.TrimSpace(text)},
		{[]any{"a", "bc", 1}, "-2.5e3"},
		{[]any{"a", "bc", 2}, `"x\ny"`},
		{[]any{"a", "bc", 3}, `[1, -2.5e3, "x\ny"]`}, // as far as it goes
		{[]any{"n", "deeper"}, "null"},
		{[]any{"l"}, "[]"},
		{[]any{"a2"}, "{}"},
	} {
		got := v.At(c.path...)
		if string(got.Raw) != c.want || !strings.HasPrefix(text[got.Offset:], c.want) {
			t.Errorf("At(%v) = %s at %d, want %s", c.path, got.Raw, got.Offset, c.want)
		}
	}
	if s, ok := v.At("a", "bc", 2).Text(); !ok || s != "x\ny" {
		t.Errorf("Text = %q, %t", s, ok)
	}
	if v.Get("n") == nil || !v.Get("n").Null() || v.Get("none") != nil || v.Get("t", "x") != nil || v.Get("t").Type() != "boolean" {
		t.Error("Get, Null or Type is wrong")
	}
	if got := doc.Tree([]byte(`{"a":1,"a":2}`)).Get("a"); string(got.Raw) != "2" {
		t.Errorf("of two equal keys %s counts, not the last", got.Raw)
	}
	for _, bad := range []string{"", "{", "[1", `{"a" 1}`, `{"a":1,}`, "truth", "1 2", `"a`, `{"a":1`, "[1;2]", "-", `{a:1}`} {
		if doc.Tree([]byte(bad)) != nil {
			t.Errorf("Tree(%q) is not nil", bad)
		}
	}
}

type target struct {
	Name  string            `json:"name"`
	Count int32             `json:"count"`
	On    *bool             `json:"on"`
	Raw   json.RawMessage   `json:"raw"`
	Tags  map[string]string `json:"tags"`
	Items []struct {
		Size int64 `json:"size"`
	} `json:"items"`
	At *doc.Value `json:"at"`
	inner
	Skipped string `json:"-"`
	Plain   string
}

type inner struct {
	Deep string `json:"deep"`
}

// TestDecodeAgrees compares Decode with encoding/json for texts in which that
// finds no fault.
func TestDecodeAgrees(t *testing.T) {
	for _, text := range []string{
		`{"name":"a","count":7,"on":true,"raw":{"x": [1]},"tags":{"a":"b"},"items":[{"size":1},{"size":2,"more":3},null],"deep":"d","-":"no"}`,
		`{"NAME":"a","Count":7}`, `{"NAME":"a","name":"b"}`, `{"name":null,"tags":null,"items":null,"on":null,"raw":null}`, `{}`, `null`,
		`{"items":[],"tags":{}}`,
	} {
		var got, want target
		if faults := doc.Decode(doc.Tree([]byte(text)), &got, 0); len(faults) > 0 {
			t.Errorf("%s: %v", text, faults[0])
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		if string(g) != string(w) {
			t.Errorf("%s:\n got %s\nwant %s", text, g, w)
		}
	}
}

func TestDecodeFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		mode doc.Mode
		want string
	}{
		{`{"name":1,"count":"x","items":[{"size":1.5},7],"tags":{"a":1,"b":"c"}}`, 0,
			`name is a number, not a string; count is a string, not an integer; items[0].size is a number, not an integer; ` +
				`items[1] is a number, not an object; tags.a is a number, not a string`},
		{`{"nam":"x","items":[{"sise":1}],"other":1}`, doc.Strict,
			`there is no field nam (write name); there is no field items[0].sise (write size); there is no field other`},
		{`[]`, 0, `the document is an array, not an object`},
		{`{"items":{},"tags":[],"on":"yes","count":3000000000}`, 0,
			`items is an object, not an array; tags is an array, not an object; on is a string, not a boolean; count is a number, not an integer`},
	} {
		var into target
		var got []string
		for _, f := range doc.Decode(doc.Tree([]byte(c.text)), &into, c.mode) {
			text := f.Error()
			if f.Want == "" && f.Near != "" {
				text += " (" + f.Hint() + ")"
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, strings.Join(got, "; "), c.want)
		}
	}
	var exact, loose target
	faults := doc.Decode(doc.Tree([]byte(`{"NAME":"a","deep":"b","DEEP":"c"}`)), &exact, doc.Exact)
	if exact.Name != "" || exact.Deep != "b" || len(faults) != 1 || faults[0].Near != "name" {
		t.Errorf("Exact: %+v %v", exact, faults)
	}
	faults = doc.Decode(doc.Tree([]byte(`{"name":1.10,"deep":true,"tags":{"a":0,"b":[]}}`)), &loose, doc.Loose)
	if loose.Name != "1.1" || loose.Deep != "true" || loose.Tags["a"] != "0" || len(faults) != 1 {
		t.Errorf("Loose: %+v %v", loose, faults)
	}
	var into target
	doc.Decode(doc.Tree([]byte(`{"name":1,"tags":{"a":1,"b":"c"},"at":[1]}`)), &into, 0)
	if into.Tags["b"] != "c" || len(into.Tags) != 1 || string(into.At.Raw) != "[1]" {
		t.Errorf("what fits is not filled in: %+v", into)
	}
}
