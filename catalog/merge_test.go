package catalog_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/long"
)

// TestMergeProperties: parts that are split off a catalog make it whole again,
// in any order; merging with itself changes nothing.
func TestMergeProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range long.N(75, 10_000) {
		text := newSynth(r).text()
		whole := openText(t, text)
		want := inFormat(t, whole, catalog.FormatLines)
		parts := make([]strings.Builder, 3)
		for line := range strings.Lines(text) {
			for range 1 + r.IntN(2) { // some documents in several parts
				part := &parts[r.IntN(3)]
				if !strings.Contains(part.String(), line) {
					part.WriteString(line)
				}
			}
		}
		var catalogs []*catalog.Catalog
		for _, i := range r.Perm(3) {
			catalogs = append(catalogs, openText(t, parts[i].String()+"\n"))
		}
		catalogs = append(catalogs, whole)
		got, conflicts, err := edit.Merge(context.Background(), nil, catalogs...)
		if err != nil || len(conflicts) > 0 {
			t.Fatalf("%v %v", err, conflicts)
		}
		if got := inFormat(t, got, catalog.FormatLines); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		if v, err := check.Catalog(context.Background(), got, nil); err != nil || !v.Valid() {
			t.Fatalf("%v %v", err, v.Err())
		}
	}
}

func TestMergeConflicts(t *testing.T) {
	a := openText(t, `{"schema":"olm.package","name":"p","defaultChannel":"c"}
{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"p.v1"}]}
{"schema":"x","name":"n","v":1}`)
	b := openText(t, `{"schema":"olm.package","name":"p","defaultChannel":"d"}
{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"p.v2"}]}
{"schema":"olm.bundle","package":"p","name":"p.v2"}
{"schema":"x","name":"n","v":2}
{"name":"n", "schema":"x","v":1}`)
	_, _, err := edit.Merge(context.Background(), nil, a, b)
	var conflict *edit.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Conflicts) != 2 {
		t.Fatalf("%v", err)
	}
	if want := `catalog: merge: package "p" differs: catalog 1 has it at c:1:1, catalog 2 at c:1:1 (and 1 more); say which of the catalogs to prefer`; err.Error() != want {
		t.Errorf("%v", err)
	}
	if got, want := conflict.Conflicts[1].String(), `package "p", channel "c" differs: catalog 1 has it at c:2:1, catalog 2 at c:2:1`; got != want {
		t.Errorf("%s", got)
	}
	for prefer, want := range map[edit.Preference][2]string{
		edit.PreferFirst: {`"defaultChannel":"c"`, `"p.v1"`}, edit.PreferLast: {`"defaultChannel":"d"`, `[{"name":"p.v2"}]`},
	} {
		got, conflicts, err := edit.Merge(context.Background(), &edit.MergeOptions{Prefer: prefer}, a, b)
		if err != nil || len(conflicts) != 2 {
			t.Fatalf("%v %v", err, conflicts)
		}
		text := inFormat(t, got, catalog.FormatLines)
		if !strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) || strings.Count(text, "\n") != 5 {
			t.Errorf("%d: %s", prefer, text)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := edit.Merge(ctx, nil, a); err != context.Canceled {
		t.Errorf("%v", err)
	}
}
