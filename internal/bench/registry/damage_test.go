package registry_test

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sirupsen/logrus"

	"github.com/fairlead/fairlead/internal/bench/registry"
	"github.com/fairlead/fairlead/internal/long"
)

// exceptions are the kinds of harm on which ours differs intentionally, and why;
// docs/compatibility/catalog.md also lists them.
var exceptions = map[string]string{
	"key twice":                     "the reference takes the last one, silently",
	"bytes that are no UTF-8":       "the reference replaces them, silently",
	"bundle payload that is a list": "the library that the reference decodes with takes a list of numbers for base64; it is no form of the format",
}

// alone are kinds on which ours agrees with opm by themselves, but intentionally not
// together with others: opm reads a first document that is not JSON as YAML, which may
// succeed where we report the JSON, and fails on a file of white space, which we treat
// as empty.
var alone = []string{"comma missing", "quote missing", "file empty"}

func TestMain(m *testing.M) {
	logrus.SetOutput(io.Discard) // the reference's warnings
	os.Exit(m.Run())
}

// tries is how often the reference is run: if several faults could stop it, a random
// one does.
const tries = 40

// tally counts how the two verdicts compare.
type tally struct{ done, invalid, loading, words, verdicts int }

// compare judges a text by both, and returns a difference in words, or "" if there is
// none. For a fault that stops the reading, only the verdict is compared.
func compare(t *testing.T, text string, n *tally) string {
	t.Helper()
	name := "catalog.json"
	if strings.HasPrefix(text, "---") {
		name = "catalog.yaml"
	}
	fsys := fstest.MapFS{name: &fstest.MapFile{Data: []byte(text)}}
	ours, err := registry.Ours(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	theirs := registry.Theirs(t.Context(), fsys)
	n.done++
	if !theirs.Valid {
		n.invalid++
	}
	if theirs.Loading {
		n.loading++
	}
	if theirs.Valid != ours.Valid || ours.Valid != (ours.Text == "") {
		n.verdicts++
		return "verdict: theirs " + theirs.Text + "\nours " + ours.Text
	}
	first := theirs.Text
	for i := 0; i < tries && !theirs.Loading && !registry.Same(ours.Text, theirs.Text); i++ {
		theirs = registry.Theirs(t.Context(), fsys)
	}
	if theirs.Loading || registry.Same(ours.Text, theirs.Text) {
		return ""
	}
	n.words++
	return "words: theirs " + first + "\nours " + ours.Text
}

// source makes a random generator from a name.
func source(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 4))
}

// damaged harms a catalog in several ways, one after the other, and returns its text,
// or false if a kind found nothing to harm.
func damaged(r *rand.Rand, c docs, ways ...harm) (string, bool) {
	for _, w := range ways {
		if w.do != nil && (len(c.of(pkgs)) == 0 || len(c.of(bundles)) == 0 || len(c.of(channels)) == 0 || !w.do(r, &c)) {
			return "", false
		}
	}
	text := c.text()
	for _, w := range ways {
		if w.text != nil {
			text = w.text(r, text)
		}
	}
	return text, true
}

func TestSyntheticIsValid(t *testing.T) {
	r := source(t.Name())
	for range 200 {
		var n tally
		text := synthetic(r).text()
		if diff := compare(t, text, &n); diff != "" || n.invalid > 0 {
			t.Fatalf("not valid: %s\n%s", diff, text)
		}
	}
}

// TestHarm does every kind of damage to synthetic and real catalogs: the verdict is
// opm's, and so are the words.
func TestHarm(t *testing.T) {
	if n := len(harms()); n < 40 {
		t.Errorf("only %d kinds", n)
	}
	originals := map[string][]docs{"made up": nil}
	t.Run("real", func(t *testing.T) {
		originals["slim"] = realPackages(t, "slim.tar.gz", long.N(6, 60))
		originals["full"] = realPackages(t, "full-sample.tar.gz", long.N(2, 20))
	})
	var all tally
	for _, h := range harms() {
		var n tally
		r, example, source := source(h.name), "", ""
		for _, name := range []string{"made up", "slim", "full"} {
			for i := range max(long.N(25, 500), len(originals[name])) {
				c := synthetic(r)
				if name != "made up" {
					if i >= len(originals[name]) {
						break
					}
					c = parse(t, originals[name][i].text())
				}
				text, ok := damaged(r, c, h)
				if !ok {
					continue
				}
				if diff := compare(t, text, &n); diff != "" && example == "" {
					example, source = name+": "+diff, text
				}
			}
		}
		report(t, h.name, n, example, source)
		all.add(n)
	}
	t.Logf("%d kinds, %d damaged catalogs, %d invalid, %d of them end the reading; differing in verdict %d, in words %d",
		len(harms()), all.done, all.invalid, all.loading, all.verdicts, all.words)
}

func (n *tally) add(m tally) {
	n.done += m.done
	n.invalid += m.invalid
	n.loading += m.loading
	n.words += m.words
	n.verdicts += m.verdicts
}

// report compares a kind's result with the exceptions.
func report(t *testing.T, name string, n tally, example, source string) {
	t.Helper()
	_, expected := exceptions[name]
	switch {
	case n.done < 10:
		t.Errorf("%s: done %d times only", name, n.done)
	case example != "" && !expected:
		t.Errorf("%s: of %d, %d verdicts and %d messages differ: %s\n%.3000s", name, n.done, n.verdicts, n.words, example, source)
	case example == "" && expected:
		t.Errorf("%s: listed as different, and is not", name)
	}
}

// TestHarms does several kinds of damage to one catalog: those that are reported are
// the same as with opm.
func TestHarms(t *testing.T) {
	kinds := slices.DeleteFunc(harms(), func(h harm) bool {
		_, differs := exceptions[h.name]
		return differs || slices.Contains(alone, h.name)
	})
	var all tally
	failures := 0
	for seed := range long.N(3000, 100_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		ways := []harm{pick(r, kinds), pick(r, kinds), pick(r, kinds)}[:2+r.IntN(2)]
		text, ok := damaged(r, synthetic(r), ways...)
		if !ok {
			continue
		}
		if seed%4 == 0 && !slices.ContainsFunc(ways, func(h harm) bool { return h.text != nil }) {
			text = "---\n" + strings.ReplaceAll(text, "\n{", "\n---\n{") // YAML
		}
		if diff := compare(t, text, &all); diff != "" && failures < 12 {
			failures++
			var names []string
			for _, w := range ways {
				names = append(names, w.name)
			}
			t.Errorf("seed %d, %s: %s\n%.1500s", seed, strings.Join(names, " + "), diff, text)
		}
	}
	t.Logf("%d damaged catalogs, %d invalid, %d end the reading; differing in verdict %d, in words %d", all.done, all.invalid, all.loading, all.verdicts, all.words)
}
