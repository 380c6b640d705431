package doc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/long"
)

// transcript returns everything that a reader returns, as text. size is passed
// to Reset.
func transcript(r io.Reader, size int64, limits doc.Limits) string {
	var out strings.Builder
	reader := doc.NewReader(nil, "", limits)
	reader.Reset(r, "f", size)
	for {
		d, err := reader.Next()
		if err == io.EOF {
			if _, again := reader.Next(); again != io.EOF {
				fmt.Fprintf(&out, "after the end: %v\n", again)
			}
			return out.String()
		}
		var e *doc.Error
		if errors.As(err, &e) {
			fmt.Fprintf(&out, "%s (kind %d)\n", e, e.Kind)
			continue
		}
		if err != nil {
			fmt.Fprintf(&out, "stopped: %v\n", err)
			return out.String()
		}
		fmt.Fprintf(&out, "%s %s at %d: %q is %s\n", d.Start, d.Format, d.Offset, d.Raw, d.JSON)
		for n := range d.Root() {
			fmt.Fprintf(&out, "  %s %s\n", d.Key(n), d.Position(n.Start))
		}
	}
}

// randomStream returns documents of all kinds with everything that may be
// between them, and sometimes damages the whole.
func randomStream(seed uint64) []byte {
	r := &randomJSON{Rand: rand.New(rand.NewPCG(3, seed))}
	if r.IntN(10) == 0 {
		r.out = append(r.out, "\ufeff"...)
	}
	for range r.IntN(6) {
		r.out = append(r.out, []string{
			"", "\n", "---\n", "\n---\n", "\n--- \n", "\n...\n", "\n--- # c\n", " ", "\n# c\n", "\r\n", "\n---\n---\n", "\n%YAML 1.1\n---\n",
		}[r.IntN(12)]...)
		switch r.IntN(4) {
		case 0:
			r.list('{', '}', 4)
		case 1:
			r.out = append(r.out, "schema: a\nname: é\nlist:\n- {x: 1}\n- [y, 'z']\ntext: |\n  --- not a marker\n   ...\n"...)
		case 2:
			r.out = append(r.out, "{schema: b, x: [1, two]}\n"...)
		case 3:
			r.out = append(r.out, "  schema: c # d\n  name: \"x\\ty\"\n"...)
		}
	}
	if r.IntN(3) == 0 {
		r.damage()
	}
	return r.out
}

// TestReaderChunks checks that the documents depend neither on how the bytes
// arrive nor on the window.
func TestReaderChunks(t *testing.T) {
	for seed := range long.N(600, 100_000) {
		text := randomStream(uint64(seed))
		want := transcript(bytes.NewReader(text), 0, doc.Limits{})
		for name, r := range map[string]io.Reader{
			"bytes":   iotest.OneByteReader(bytes.NewReader(text)),
			"halves":  iotest.HalfReader(bytes.NewReader(text)),
			"with it": iotest.DataErrReader(bytes.NewReader(text)),
			"small":   bytes.NewReader(text),
		} {
			if got := transcript(r, 1, doc.Limits{}); got != want {
				t.Fatalf("seed %d, %s:\n%s\nnot\n%s\nof %q", seed, name, got, want, text)
			}
		}
	}
}

// TestReaderOffsets checks that offsets and positions are those of the source,
// and that every document gives the same result when read by itself.
func TestReaderOffsets(t *testing.T) {
	for seed := range long.N(600, 100_000) {
		text := randomStream(uint64(seed))
		reader := doc.NewReader(bytes.NewReader(text), "f", doc.Limits{})
		reader.YAML11()
		for {
			d, err := reader.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				continue
			}
			end := int(d.Offset) + len(d.Raw)
			if !bytes.Equal(text[d.Offset:end], d.Raw) {
				t.Fatalf("seed %d: %q is not at %d of %q", seed, d.Raw, d.Offset, text)
			}
			before := bytes.TrimPrefix(text[:d.Offset], []byte("\ufeff"))
			if line := 1 + bytes.Count(before, []byte("\n")); line != d.Start.Line {
				t.Fatalf("seed %d: line %d, not %d: %q", seed, d.Start.Line, line, text)
			}
			again, err := doc.Load(bytes.Clone(d.Raw), d.Start, d.Format)
			if err != nil || !bytes.Equal(again.JSON, d.JSON) || !json.Valid(d.JSON) {
				t.Fatalf("seed %d: %v: %s\nnot\n%s", seed, err, again.JSON, d.JSON)
			}
			for n := range d.Root() {
				if got, want := again.Position(n.Start), d.Position(n.Start); got != want {
					t.Fatalf("seed %d: %v, not %v", seed, got, want)
				}
			}
		}
	}
}

// TestReaderAgainstStandardDecoder checks that a stream of JSON values is split
// as encoding/json splits it.
func TestReaderAgainstStandardDecoder(t *testing.T) {
	for seed := range long.N(600, 100_000) {
		r := &randomJSON{Rand: rand.New(rand.NewPCG(4, uint64(seed)))}
		for range 1 + r.IntN(5) {
			r.space()
			r.list('{', '}', 3)
		}
		if !uniqueKeys(r.out) {
			continue
		}
		reader := doc.NewReader(bytes.NewReader(r.out), "", doc.Limits{})
		decoder := json.NewDecoder(bytes.NewReader(r.out))
		for {
			var want json.RawMessage
			wantErr := decoder.Decode(&want)
			d, err := reader.Next()
			if err != wantErr {
				t.Fatalf("seed %d: %v, not %v: %q", seed, err, wantErr, r.out)
			}
			if err == io.EOF {
				break
			}
			if !bytes.Equal(d.Raw, want) {
				t.Fatalf("seed %d: %q, not %q", seed, d.Raw, want)
			}
		}
	}
}

func uniqueKeys(stream []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(stream))
	for {
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return true
		}
		if !strictlyValid(value) {
			return false
		}
	}
}

// endless returns the same bytes forever, and counts them.
type endless struct {
	text string
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[(e.n+int64(i))%int64(len(e.text))]
	}
	e.n += int64(len(p))
	return len(p), nil
}

// TestEndlessDocuments checks that documents of all kinds without an end stop
// at the size limit, and that little more than the limit is read.
func TestEndlessDocuments(t *testing.T) {
	const size = 1 << 20
	for _, c := range []struct{ start, repeat string }{
		{`{"a":"`, "text "}, {`{"a":[`, "1,"}, {`{"a":`, "      "}, {`{"a":1`, "0"}, {"{", `"k":1,`},
		{"a: |\n", "  line\n"}, {"a:\n", "- x\n"}, {"", " "}, {"", "# comment "}, {"# c\n", "# comment\n"}, {"a: \"", "text "},
		{"[", "1,"}, {"{a: [", "b, "}, {"%YAML 1.1\n", "# comment\n"},
	} {
		tail := &endless{text: c.repeat}
		r := doc.NewReader(io.MultiReader(strings.NewReader(c.start), tail), "f", doc.Limits{Size: size})
		_, err := r.Next()
		var e *doc.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.start+c.repeat, err)
		}
		if tail.n > 4*size {
			t.Errorf("%q: %d bytes read", c.start+c.repeat, tail.n)
		}
	}
}

// TestLastLine checks that the last line counts as ended, also in a document
// that is read again.
func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{"a: |\n  x": `{"a":"x\n"}`, "a: |+\n  x": `{"a":"x\n"}`, "a: >\n  x": `{"a":"x\n"}`, "a: |-\n  x": `{"a":"x"}`, "{b: 1}": `{"b":1}`} {
		d, err := doc.NewReader(strings.NewReader(text), "f", doc.Limits{}).Next()
		if err != nil || string(d.JSON) != want || string(d.Raw) != text {
			t.Errorf("%q: %v, %v; want %s", text, d, err, want)
			continue
		}
		if again, err := doc.Load(d.Raw, d.Start, d.Format); err != nil || string(again.JSON) != want {
			t.Errorf("%q again: %v, %v", text, again, err)
		}
	}
}

// TestApart checks what is reported about the text before a document: only
// white space, or more.
func TestApart(t *testing.T) {
	r := doc.NewReader(iotest.OneByteReader(strings.NewReader("\n {} \n\n{}{}\n---\n{}\n# c\n{}\n--- {}\n{}\n---\na: b\n")), "f", doc.Limits{})
	var got []bool
	for d, err := r.Next(); err == nil; d, err = r.Next() {
		got = append(got, d.Apart)
	}
	if want := []bool{false, false, false, true, true, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestEndlessFault checks that reading a faulty JSON object without an end also
// stops.
func TestEndlessFault(t *testing.T) {
	tail := &endless{text: "garbage "}
	limited := io.LimitReader(tail, 64<<20)
	r := doc.NewReader(io.MultiReader(strings.NewReader(`{"a" `), limited, strings.NewReader("\n{\"b\":1}")), "f", doc.Limits{})
	if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), "a colon is expected here") {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != io.EOF || tail.n > 20<<20 {
		t.Fatalf("%v after %d bytes", err, tail.n)
	}
}

func TestReadErrors(t *testing.T) {
	want := errors.New("disk on fire")
	for _, text := range []string{"", `{"a":`, `{"a":1}`, "a: b\n", "# c"} {
		r := doc.NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(want)), "f", doc.Limits{})
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if err != want {
			t.Errorf("%q: %v", text, err)
		}
		if _, err = r.Next(); err != want {
			t.Errorf("%q: then %v", text, err)
		}
	}
	stuck := doc.NewReader(stuckReader{}, "f", doc.Limits{})
	if _, err := stuck.Next(); err != io.ErrNoProgress {
		t.Error(err)
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func FuzzReader(f *testing.F) {
	for seed := range 30 {
		f.Add(randomStream(uint64(seed)))
	}
	f.Add([]byte("---\na: &a [*a]\n...\n%TAG ! x\n---\n!y b: 1"))
	f.Add([]byte("\xff\xfe{\x00"))
	f.Add([]byte("{\"a\\\U0001f6a2"))
	f.Add([]byte("[\"\\\U0001f6a2\"]"))
	f.Add([]byte(" #0\x00\n---"))
	f.Add([]byte(" #0000000000000000000000000000000000000000000000000000000\n{ \"000000000000000000000000000000\n0%\n--- 0"))
	limits := doc.Limits{Size: 1 << 12, Depth: 50, Nodes: 1000}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := transcript(bytes.NewReader(text), 0, limits)
		if got := transcript(iotest.HalfReader(bytes.NewReader(text)), 1, limits); got != want {
			t.Fatalf("in small windows:\n%s\nnot\n%s", got, want)
		}
		if strings.Contains(want, "after the end") || strings.Contains(want, "stopped") {
			t.Fatal(want)
		}
	})
}

// A mapping in flow style may have lines that begin with a brace, and ends where it is closed, so that
// further documents follow. One that is never closed does not take what follows with it.
func TestFlowMapping(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"items at the margin", "{kind: List, items: [\n{name: a},\n{name: b}\n]}\n", `{"kind":"List","items":[{"name":"a"},{"name":"b"}]}`},
		{"two", "{a: {b: [\n{c: 1}]}}\n{d: 2}\n", `{"a":{"b":[{"c":1}]}} {"d":2}`},
		{"brackets in strings", "{a: '}]''}', b: \"]}\\\"}\", it's: 5'2\", c: [ # }}]\n{d: 1}]}\n{e: 2}\n", `{"a":"}]'}","b":"]}\"}","it's":"5'2\"","c":[{"d":1}]} {"e":2}`},
		{"marker", "{a: [\n{b: 1}\n]}\n---\n{c: 2}\n", `{"a":[{"b":1}]} {"c":2}`},
		{"never closed", "{a: [{b: 1}\n{c: 2}\n{d: 3}\n", `error {"c":2} {"d":3}`},
		{"never closed before a marker", "{a: [{b: 1}\n---\n{c: 2}\n", `error {"c":2}`},
		{"closed too often", "{a: 1}}\n{c: 2}\n", `error {"c":2}`},
	} {
		for _, long := range []string{"", strings.Repeat("# filler\n", 20_000)} { // longer than the window
			r := doc.NewReader(strings.NewReader(strings.Replace(test.text, "[\n", "[\n"+long, 1)), "f", doc.Limits{})
			var got []string
			for {
				d, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					got = append(got, "error")
					continue
				}
				got = append(got, string(d.JSON))
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s, %d more bytes: %s, want %s", test.name, len(long), text, test.want)
			}
		}
	}
}
