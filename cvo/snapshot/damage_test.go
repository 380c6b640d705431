package snapshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/long"
)

// dumped is an object of a dump.
type dumped struct {
	kind, namespace, name string
	text                  string // JSON, in a line
}

// damageDumps are dumps of this module, as objects.
func damageDumps(t *testing.T) (dumps [][]dumped) {
	t.Helper()
	files, _ := filepath.Glob("../../examples/fairlead/machine/dumps/*.*")
	for _, name := range append(files, "../../examples/fairlead/testdata/hostile/cluster.yaml") {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var all []dumped
		r := snapshot.Reader{Each: func(r *snapshot.Ref, text []byte) {
			var b bytes.Buffer
			if json.Compact(&b, text) == nil && b.Len() < 8<<10 {
				all = append(all, dumped{r.Kind, r.Namespace, r.Name, b.String()})
			}
		}}
		err = r.Stream(f, name)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(all) > 2 {
			dumps = append(dumps, all[:min(len(all), 40)])
		}
	}
	return dumps
}

// damaged writes objects in one of the forms that people have them in, and damages the text. quiet says
// that the damage may go unnoticed, because what is left is as somebody could have dumped it.
func damaged(r *rand.Rand, all []dumped) (text []byte, how string, quiet bool) {
	all = slices.Clone(all)
	join := func(begin, between, end string) []byte {
		var b strings.Builder
		b.WriteString(begin)
		for i, o := range all {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(o.text)
		}
		return []byte(b.String() + end)
	}
	form := func() []byte {
		switch r.IntN(4) {
		case 0:
			return join("", "\n", "\n")
		case 1:
			return join(`{"apiVersion":"v1","kind":"List","items":[`, ",\n", "]}\n")
		case 2:
			var b bytes.Buffer
			if err := json.Indent(&b, join(`{"apiVersion":"v1","kind":"List","items":[`, ",", "]}"), "", "    "); err != nil {
				panic(err)
			}
			return append(b.Bytes(), '\n')
		}
		return join("apiVersion: v1\nitems:\n- ", "\n- ", "\nkind: List\n")
	}
	switch n := r.IntN(9); n {
	case 0:
		text = form()
		list := bytes.HasPrefix(text, []byte(`{"apiVersion":"v1","kind":"List"`)) || text[0] != '{' || text[1] == '\n'
		return text[:r.IntN(len(text))], "cut", !list // documents may end anywhere between two
	case 1, 2:
		text = form()
		for range n {
			text[r.IntN(len(text))] = byte(r.IntN(256))
		}
		return text, "bytes changed", false
	case 3:
		i := r.IntN(len(all))
		all[i].text = retyped(r, all[i].text)
		return form(), "type of a field changed in " + all[i].kind + " " + all[i].name, false
	case 4:
		i := r.IntN(len(all))
		all[i].text = nulled(r, all[i].text)
		return form(), "a field is null", true
	case 5:
		all = append(all, all[r.IntN(len(all))])
		return form(), "doubled", false
	case 6:
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return form(), "shuffled", false
	case 7:
		text = form()
		at := r.IntN(len(text))
		noise := make([]byte, 1+r.IntN(40))
		for i := range noise {
			noise[i] = byte(r.IntN(256))
		}
		return slices.Concat(text[:at], noise, text[at:]), "binary inserted", false
	}
	text = form()
	return slices.Concat([]byte("I0501 12:00:00.000000 1 loader.go:1] Config loaded\n"), text, []byte("\nerror: the server does not answer\n"), text[:r.IntN(len(text))]), "outputs in a row", false
}

// retyped gives a field that is not empty a value of another type.
func retyped(r *rand.Rand, text string) string {
	return edited(r, text, func(v any) any {
		switch v.(type) {
		case map[string]any:
			return []any{"x"}
		case []any:
			return map[string]any{"x": "y"}
		}
		return map[string]any{"x": []any{1}}
	})
}

func nulled(r *rand.Rand, text string) string {
	return edited(r, text, func(any) any { return nil })
}

// edited changes a field below spec or status.
func edited(r *rand.Rand, text string, change func(any) any) string {
	var o map[string]any
	if json.Unmarshal([]byte(text), &o) != nil {
		return text
	}
	var fields []func()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				fields = append(fields, func() { v[k] = change(v[k]) })
				walk(v[k])
			}
		case []any:
			for i := range v {
				fields = append(fields, func() { v[i] = change(v[i]) })
				walk(v[i])
			}
		}
	}
	walk(o["spec"])
	walk(o["status"])
	if len(fields) == 0 {
		return text
	}
	fields[r.IntN(len(fields))]()
	out, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// damageRead reads a text, within a time.
func damageRead(t *testing.T, text []byte) (*snapshot.Snapshot, map[dumped]bool, error) {
	t.Helper()
	have := map[dumped]bool{}
	r := snapshot.Reader{Everywhere: true, Each: func(r *snapshot.Ref, _ []byte) { have[dumped{r.Kind, r.Namespace, r.Name, ""}] = true }}
	begun := time.Now()
	err := r.Stream(bytes.NewReader(text), "dump")
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := r.Snapshot()
	return s, have, err
}

// told reports whether a snapshot says where something could not be read. A rule of a risk that is none is kept
// as it is, and is never evaluated.
func told(s *snapshot.Snapshot) bool {
	for i := range s.Versions.Items {
		for _, u := range s.Versions.Items[i].Status.ConditionalUpdates {
			for _, r := range u.Risks {
				if slices.ContainsFunc(r.MatchingRules, func(r graph.Rule) bool { return !r.Known() }) {
					return true
				}
			}
		}
	}
	return slices.ContainsFunc(s.Warnings, func(w snapshot.Warning) bool {
		return (w.Unread || w.Foreign) && w.Where.File != "" && w.Where.Line > 0
	})
}

// However a dump is damaged, it is read, and nothing is lost without a word: an object of the dump that is
// not in the snapshot, and a field that has another value, are told with their place.
func TestDamages(t *testing.T) {
	dumps := damageDumps(t)
	for seed := range uint64(long.N(400, 20_000)) {
		r := rand.New(rand.NewPCG(seed, 41))
		all := dumps[r.IntN(len(dumps))]
		text, how, quiet := damaged(r, all)
		s, have, err := damageRead(t, text)
		if err != nil {
			t.Errorf("seed %d, %s: %v", seed, how, err)
			continue
		}
		var lost, renamed []dumped
		was := map[dumped]bool{}
		for _, o := range all {
			o.text = ""
			if was[o] = true; !have[o] {
				lost = append(lost, o)
			}
		}
		for o := range have {
			if !was[o] {
				renamed = append(renamed, o)
			}
		}
		for api, l := range s.Others { // with another API group it is another kind
			for i := range l.Items {
				kind, _, _ := strings.Cut(api, ".")
				if o := (dumped{kind, l.Items[i].Namespace, l.Items[i].Name, ""}); was[o] && !have[o] {
					renamed = append(renamed, o)
				}
			}
		}
		if len(lost) > len(renamed) && !quiet && !told(s) {
			t.Errorf("seed %d, %s: lost without a word: %v\n%.300s", seed, how, lost, text)
		}
		if strings.HasPrefix(how, "type of a field") && len(lost) == 0 && !told(s) && plainly(s) != plainly(mustRead(t, all)) {
			t.Errorf("seed %d, %s: a field changed without a word", seed, how)
		}
	}
}

// plainly is a snapshot without where things were read.
func plainly(s *snapshot.Snapshot) string {
	text, err := json.Marshal([]any{s.Nodes.Items, s.Pods.Items, s.Budgets.Items, s.Machines.Items, s.Pools.Items, s.ClusterOperators.Items, s.Versions.Items})
	return fmt.Sprint(string(text), err)
}

func mustRead(t *testing.T, all []dumped) *snapshot.Snapshot {
	t.Helper()
	var b strings.Builder
	for _, o := range all {
		b.WriteString(o.text + "\n")
	}
	s, _, err := damageRead(t, []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
