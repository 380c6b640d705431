package doc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/long"
)

// randomJSON writes a random value, with everything unusual that JSON allows.
type randomJSON struct {
	*rand.Rand
	out []byte
}

func (r *randomJSON) space() {
	for r.IntN(4) == 0 {
		r.out = append(r.out, " \n\t\r           "[r.IntN(15)])
	}
}

func (r *randomJSON) value(depth int) {
	switch n := r.IntN(9); {
	case n < 2 && depth > 0:
		r.list('{', '}', depth)
	case n < 4 && depth > 0:
		r.list('[', ']', depth)
	case n < 7:
		r.text()
	case n == 7:
		r.out = append(r.out, []string{"0", "-0", "12", "-3.25", "1e9", "9007199254740993", "1.0", "2E-7", "0.5e+10"}[r.IntN(9)]...)
	default:
		r.out = append(r.out, []string{"true", "false", "null"}[r.IntN(3)]...)
	}
}

func (r *randomJSON) list(open, end byte, depth int) {
	r.out = append(r.out, open)
	n := r.IntN(5)
	if r.IntN(60) == 0 {
		n = 100 + r.IntN(60)
	}
	for i := range n {
		r.space()
		if i > 0 {
			r.out = append(r.out, ',')
			r.space()
		}
		if open == '{' {
			if r.IntN(3) == 0 {
				r.text()
			} else {
				r.out = fmt.Appendf(r.out, "%q", []string{"schema", "name", "k"}[r.IntN(3)]+strconv.Itoa(r.IntN(40)))
			}
			r.space()
			r.out = append(r.out, ':')
			r.space()
		}
		r.value(depth - 1)
	}
	r.space()
	r.out = append(r.out, end)
}

func (r *randomJSON) text() {
	r.out = append(r.out, '"')
	for range r.IntN(r.IntN(40) + 1) {
		r.out = append(r.out, []string{
			"a", "longer text without anything", " ", "é", "☃", "🚢", `\n`, `\"`, `\\`, `\/`, `\u00e9`, `\uD83D\uDEA2`,
			`\u0061`, `\b\f\r\t`, "\x7f", "}", "{", "[", ":", ",", "'",
		}[r.IntN(21)]...)
	}
	r.out = append(r.out, '"')
}

// damage changes a few bytes.
func (r *randomJSON) damage() {
	for range 1 + r.IntN(2) {
		if len(r.out) == 0 {
			return
		}
		i := r.IntN(len(r.out))
		switch r.IntN(4) {
		case 0:
			r.out = r.out[:i]
		case 1:
			r.out[i] = "{}[]:,\"\\u0129dDtfn \n\x00\xff\xc3x-.eE'#"[r.IntN(30)]
		case 2:
			r.out = append(r.out[:i], r.out[i+1:]...)
		case 3:
			r.out = append(r.out[:i+1], r.out[i:]...)
		}
	}
}

// strictlyValid is the oracle: whether encoding/json accepts the text, and it
// is UTF-8 without duplicate keys and lone surrogates.
func strictlyValid(text []byte) bool {
	if !json.Valid(text) || !utf8.Valid(text) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var keys []map[string]bool // of the enclosing objects; nil for arrays
	wantKey := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return !halfSurrogate(text)
		}
		if err != nil {
			return false
		}
		inObject := len(keys) > 0 && keys[len(keys)-1] != nil
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				keys = append(keys, map[string]bool{})
			case '[':
				keys = append(keys, nil)
			default:
				keys = keys[:len(keys)-1]
			}
			wantKey = len(keys) > 0 && keys[len(keys)-1] != nil
			continue
		case string:
			if inObject && wantKey {
				if keys[len(keys)-1][t] {
					return false
				}
				keys[len(keys)-1][t] = true
				wantKey = false
				continue
			}
		}
		wantKey = inObject
	}
}

func halfSurrogate(text []byte) bool {
	s := strings.ReplaceAll(string(text), `\\`, "__")
	for i := 0; i+6 <= len(s); i++ {
		unit, ok := escaped(s[i:])
		if !ok || unit < 0xd800 || unit > 0xdfff {
			continue
		}
		low, ok := escaped(s[i+6:])
		if unit >= 0xdc00 || !ok || low < 0xdc00 || low > 0xdfff {
			return true
		}
		i += 6
	}
	return false
}

func escaped(s string) (uint64, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return n, err == nil
}

func TestParseAgainstStandardDecoder(t *testing.T) {
	good, bad := 0, 0
	for seed := range long.N(6_000, 2_000_000) {
		r := &randomJSON{Rand: rand.New(rand.NewPCG(1, uint64(seed)))}
		r.space()
		r.value(6)
		r.space()
		if r.IntN(2) == 0 {
			r.damage()
		}
		outline, err := doc.Parse(r.out, doc.Limits{})
		want := strictlyValid(r.out)
		if (err == nil) != want {
			t.Fatalf("seed %d: %v, want %v: %q", seed, err, want, r.out)
		}
		if err != nil {
			bad++
			checkError(t, r.out, err)
			continue
		}
		good++
		checkOutline(t, outline)
		if tree := doc.Tree(r.out); tree == nil {
			t.Fatalf("seed %d: no tree: %q", seed, r.out)
		}
	}
	if good < 1500 || bad < 1000 {
		t.Fatalf("only %d good and %d bad texts", good, bad)
	}
}

// checkError checks that an error points into the text.
func checkError(t *testing.T, text []byte, err error) {
	t.Helper()
	var e *doc.Error
	if !errors.As(err, &e) || e.Message == "" || e.Pos.Line < 1 || e.Pos.Column < 1 {
		t.Fatalf("%#v: %q", err, text)
	}
	lines := bytes.Split(text, []byte("\n"))
	if e.Pos.Line > len(lines) || e.Pos.Column > utf8.RuneCount(lines[e.Pos.Line-1])+1 {
		t.Fatalf("%v is outside of %q", err, text)
	}
}

// checkOutline compares an outline with what encoding/json makes of the text.
func checkOutline(t *testing.T, o *doc.Outline) {
	t.Helper()
	var same func(text []byte, members []doc.Node, level int)
	same = func(text []byte, members []doc.Node, level int) {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		switch {
		case level > 4:
			return
		case json.Unmarshal(text, &object) == nil && object != nil:
			if len(object) != len(members) {
				t.Fatalf("%d members instead of %d: %q", len(members), len(object), text)
			}
		case json.Unmarshal(text, &list) == nil && list != nil:
			if len(list) != len(members) {
				t.Fatalf("%d elements instead of %d: %q", len(members), len(list), text)
			}
		default:
			if len(members) != 0 {
				t.Fatalf("a scalar has %d members: %q", len(members), text)
			}
			return
		}
		for i, n := range members {
			want := object[string(o.Key(n))]
			if list != nil {
				want = list[i]
			}
			if !bytes.Equal(bytes.TrimSpace(want), o.Value(n)) {
				t.Fatalf("member %d is %q, not %q", i, o.Value(n), want)
			}
			var s string
			if text, ok := o.Text(n); ok != (want[0] == '"') || ok && (json.Unmarshal(want, &s) != nil || s != string(text)) {
				t.Fatalf("text %q of %q", text, want)
			}
			var below []doc.Node
			for c := range o.Children(n) {
				below = append(below, c)
			}
			same(want, below, level+1)
		}
	}
	var members []doc.Node
	for n := range o.Root() {
		members = append(members, n)
	}
	same(o.JSON, members, 1)
}

func TestParseLimits(t *testing.T) {
	deep := strings.Repeat(`[`, 1000) + strings.Repeat(`]`, 1000)
	if _, err := doc.Parse([]byte(deep), doc.Limits{}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		text   string
		limits doc.Limits
		what   string
	}{
		{"[" + deep + "]", doc.Limits{}, doc.DepthLimit},
		{strings.Repeat(`{"a":`, 1_000_000), doc.Limits{}, doc.DepthLimit},
		{`{"a":[1]}`, doc.Limits{Depth: 1}, doc.DepthLimit},
		{`{"a":1}`, doc.Limits{Size: 6}, doc.SizeLimit},
	} {
		_, err := doc.Parse([]byte(c.text), c.limits)
		var limit *doc.LimitError
		if !errors.As(err, &limit) || limit.What != c.what {
			t.Errorf("%.20s: %v", c.text, err)
		}
	}
}

// TestManyKeys checks that an object with very many keys does not take
// quadratic time, and that duplicates are found anywhere in it.
func TestManyKeys(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"k0":0`)
	for i := 1; i < 30_000; i++ {
		fmt.Fprintf(&text, `,"k%d":%d`, i, i)
	}
	if _, err := doc.Parse([]byte(text.String()+"}"), doc.Limits{}); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"k0", "k63", "k64", "k29999", `\u006b7`} {
		_, err := doc.Parse([]byte(text.String()+`,"`+key+`":1}`), doc.Limits{})
		var e *doc.Error
		if !errors.As(err, &e) || e.Kind != doc.DuplicateKey {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestKeysAlike checks that different keys with equal length and equal ends are
// distinguished.
func TestKeysAlike(t *testing.T) {
	if _, err := doc.Parse([]byte(`{"aaaaaaaaXaaaaaaaa":1,"aaaaaaaaYaaaaaaaa":2}`), doc.Limits{}); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for seed := range 20 {
		r := &randomJSON{Rand: rand.New(rand.NewPCG(2, uint64(seed)))}
		r.value(4)
		f.Add(r.out)
		r.damage()
		f.Add(r.out)
	}
	f.Add([]byte(`{"a":"\ud83d\udea2","a\u0062":[1.5e3,{"x":null}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		outline, err := doc.Parse(text, doc.Limits{Depth: 9000})
		if want := strictlyValid(text); (err == nil) != want {
			t.Fatalf("%v, want %v", err, want)
		}
		if err != nil {
			checkError(t, text, err)
		} else {
			checkOutline(t, outline)
		}
	})
}
