package resolve

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// goldenCase is a case with the answer of the reference.
type goldenCase struct {
	olm.Case
	Chosen []string
	Error  string
}

// TestGolden answers every case for which the reference's answer on a real
// catalog is known, on one processor and on two, and compares.
func TestGolden(t *testing.T) {
	cases := samples.Data(t, "catalog", "olm-golden.jsonl.gz")
	dir := filepath.Dir(cases)
	c := &command{doing: func(string) {}, catalogs: []catalogFlag{{name: "community", path: filepath.Join(dir, "slim.tar.gz")}}, batch: cases}
	r, closeAll, err := c.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	answers := func(processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		var out bytes.Buffer
		if status, err := c.runBatch(context.Background(), r, &out); status != statusResolved || err != nil {
			t.Fatalf("status %d, %v", status, err)
		}
		return out.String()
	}
	got := answers(1)
	if again := answers(2); again != got {
		t.Error("the answers on two processors differ from those on one")
	}
	compareGolden(t, readGolden(t, cases), strings.Split(strings.TrimSpace(got), "\n"))
}

func readGolden(t *testing.T, path string) []goldenCase {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []goldenCase
	for d := json.NewDecoder(z); d.More(); {
		var c goldenCase
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		slices.Sort(c.Chosen)
		all = append(all, c)
	}
	return all
}

func compareGolden(t *testing.T, want []goldenCase, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d answers to %d cases", len(got), len(want))
	}
	counts := make(map[string]int)
	for i, w := range want {
		var g olm.Answer
		if err := json.Unmarshal([]byte(got[i]), &g); err != nil {
			t.Fatal(err)
		}
		// The reference updates some operators to themselves because of their
		// skipRange; here that is nothing to do.
		same := len(w.Installed) == 1 && len(w.Chosen) == 1 && strings.HasSuffix(w.Chosen[0], "/"+w.Installed[0]) && len(g.Chosen) == 0
		if !same && !slices.Equal(g.Chosen, w.Chosen) || g.Unsatisfiable != (w.Error != "") {
			t.Errorf("%s %v %v: got %v (unsatisfiable %v), want %v %s", w.Kind, w.Subscriptions, w.Installed, g.Chosen, g.Unsatisfiable, w.Chosen, w.Error)
		}
		if lines := strings.Count(g.Explanation, "\n") + 1; lines > olm.ExplanationLines {
			t.Errorf("%v: the explanation has %d lines", w.Subscriptions, lines)
		}
		counts[w.Kind]++
	}
	t.Logf("compared: %v", counts)
}
