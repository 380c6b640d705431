package doc_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/long"
)

// randomYAML writes block style as people and tools write it, and slightly
// worse.
type randomYAML struct {
	*rand.Rand
	out strings.Builder
}

func (r *randomYAML) pick(list ...string) string { return list[r.IntN(len(list))] }

var yamlScalars = []string{
	"text", "two words", "a: b", "http://x:80/y", "x #y", "x # comment", "yes", "No", "on", "y", "null", "~", "", "true", "12", "-1", "+1", "1.10", "0x1F",
	"017", "0o17", "1_000", ".5", ".inf", "1e3", "2001-01-01", "1:30", "- x", "-x", "--", "? x", ":", "é ☃", "{}", "[]", "[a]", "{a: b}", "&a x", "*a", "!!str 1",
	"'single'", "'it''s'", "'two\n  lines'", "'blank\n\n\n  lines '", `"double"`, `"\t\x41\u00e9\U0001F6A2\0"`, `"a\
  b"`, "\"folded \n   text\\n\n  more\\ \n  end\"", `"\q"`, "'# no'", "\"x\" # y", "'x'y", "@x", "`x", "%x", "x\n   y", "x\n\n   y: z", "x\ty", "<<", "=",
	"|\n%s  one\n%s   two\n\n%s  three\n", "|-\n%s  x\n", "|+\n%s  x\n\n\n", ">\n%s  a\n%s  b\n\n%s   c\n%s  d\n", ">-\n\n%s  a\n", "|2\n%s   x\n%s  y\n", "| # c\n%s  x\n", "|\n", "|-\n\n%s    x\n%s  y\n", ">+\n%s  a\n%s \n",
}

func (r *randomYAML) block(indent, depth int) {
	pad := strings.Repeat(" ", indent)
	for i := range 1 + r.IntN(4) {
		switch r.IntN(12) {
		case 0:
			r.out.WriteString("\n")
		case 1:
			r.out.WriteString(pad + "# comment\n")
		case 2:
			r.out.WriteString("#at the margin\n")
		}
		key := r.pick("a", "key", "with space", "x/y.z", `"quoted"`, "'single key'", "on", "1", "1.50", "null", "é", "k-", "a#b") + fmt.Sprint(i)
		if r.IntN(30) == 0 {
			key = r.pick("on", "1", "1.50", "null", "true", "same", "<<", "-k", "k ", `"a:b"`, "'#'", "a b")
		}
		r.out.WriteString(pad + key + ":" + r.pick("", "", "", " ", "   "))
		r.value(indent, depth)
	}
}

// value writes what follows a colon or a dash, and ends the line.
func (r *randomYAML) value(indent, depth int) {
	if depth > 0 && r.IntN(3) == 0 {
		r.out.WriteString(r.pick("\n", "\n", " # c\n", "\n\n"))
		if r.IntN(2) == 0 {
			r.block(indent+1+r.IntN(3), depth-1)
		} else {
			r.list(indent+r.IntN(3), depth-1)
		}
		return
	}
	text := r.pick(yamlScalars...)
	if r.IntN(10) > 0 {
		text = r.pick("text", "two words", "12", "on", "~", "'it''s'", "'two\n  lines'", `"\t\x41\u00e9"`, "|\n%s  one\n%s   two\n\n%s  three\n",
			"|-\n%s  x\n", "|+\n%s  x\n\n\n", ">\n%s  a\n%s  b\n\n%s   c\n%s  d\n", ">-\n\n%s  a\n", "|2\n%s   x\n%s  y\n", "{}", "[]", "\"a\n\n b\"", "")
	}
	r.out.WriteString(" " + strings.ReplaceAll(text, "%s", strings.Repeat(" ", indent)))
	if !strings.HasSuffix(text, "\n") {
		r.out.WriteString(r.pick("\n", "\n", "\n", " \n", " # c\n"))
	}
}

func (r *randomYAML) list(indent, depth int) {
	pad := strings.Repeat(" ", indent)
	for range 1 + r.IntN(3) {
		r.out.WriteString(pad + "-")
		switch gap := 1 + r.IntN(2); {
		case depth > 0 && r.IntN(3) == 0: // a mapping on the same line
			r.out.WriteString(strings.Repeat(" ", gap) + "k: v\n")
			r.block(indent+1+gap, depth-1)
		case depth > 0 && r.IntN(6) == 0: // a list on the same line
			r.out.WriteString(strings.Repeat(" ", gap) + "- v\n")
			r.list(indent+1+gap, depth-1)
		default:
			r.value(indent, depth)
		}
	}
}

func (r *randomYAML) damage(text string) string {
	if len(text) == 0 {
		return text
	}
	i := r.IntN(len(text))
	switch r.IntN(4) {
	case 0:
		return text[:i]
	case 1:
		return text[:i] + text[i+1:]
	case 2:
		return text[:i] + r.pick(" ", "\n", ":", "-", "#", "'", `"`, "|", ">", "\t", "  ", ": ", "- ", " #", "\\", "é", "\r\n", "\u2028", "\ufeff") + text[i:]
	}
	j := i + r.IntN(min(20, len(text)-i))
	return text[:i] + text[j:]
}

// TestBlockAgainstParser checks that the reader of block style reads what it
// accepts as the parser does: values, words, and the position of every value
// and key.
func TestBlockAgainstParser(t *testing.T) {
	accepted, refused := 0, 0
	for seed := range long.N(6000, 1_000_000) {
		r := &randomYAML{Rand: rand.New(rand.NewPCG(8, uint64(seed)))}
		r.block(r.IntN(20)/19, 3)
		text := r.out.String()
		if seed%3 > 0 {
			text = r.damage(text)
		}
		ok, difference := doc.BlockAgainstParser([]byte(text), seed%2 == 0)
		if difference != "" {
			t.Fatalf("seed %d: %s\nof\n%s", seed, difference, text)
		}
		if ok {
			accepted++
		} else {
			refused++
		}
	}
	if accepted < 1500 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
}

// TestBlockAccepts checks that YAML as tools write it is accepted: otherwise
// reading it would be ten times slower.
func TestBlockAccepts(t *testing.T) {
	for _, text := range []string{
		"schema: olm.package\nname: x\n", "a:\n- b\n- c: d\n  e: f\n", "a:\n  - b\n", "a: |\n  x\n\n  y\nb: >-\n  z\n", "a: {}\nb: []\n",
		"a: \"x\\n\n  \\  y\"\nb: 'z'\n", "a: x\n  y\n  z\n", "a:\nb:\n- \n-\n", "# c\na: b # c\n\n# d\n", "'a': b\n\"c\": d\n", "a: |2\n    x\n", "a: -1\nb: 1.5\nc: yes\nd: ~\n",
		"a: - b", "  a: b\n  c: d\n", "a: é\n", "- a: b",
	} {
		want := text != "a: - b" && text != "- a: b"
		if ok, difference := doc.BlockAgainstParser([]byte(text), true); ok != want || difference != "" {
			t.Errorf("%q: %v %s", text, ok, difference)
		}
	}
}

func FuzzBlock(f *testing.F) {
	for seed := range 40 {
		r := &randomYAML{Rand: rand.New(rand.NewPCG(9, uint64(seed)))}
		r.block(0, 3)
		f.Add([]byte(r.out.String()), seed%2 == 0)
	}
	for _, s := range yamlScalars {
		f.Add([]byte("a: "+strings.ReplaceAll(s, "%s", "")+"\nb: c\n"), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, old bool) {
		if _, difference := doc.BlockAgainstParser(text, old); difference != "" {
			t.Fatal(difference)
		}
	})
}
