package olm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestConcurrentUse resolves the same requests from several goroutines with one
// new Resolver, and compares the answers with those found sequentially, each by
// its own Resolver.
func TestConcurrentUse(t *testing.T) {
	b := drawBatch(t, 7)
	answer := func(r *olm.Resolver, w *world) string {
		res, err := r.Resolve(context.Background(), w.request())
		var unsat *olm.UnsatError
		if errors.As(err, &unsat) {
			return new(scenario).explain(unsat)
		}
		if err != nil {
			return "error: " + err.Error()
		}
		text, err := json.Marshal(res)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	var want []string
	for _, w := range b.worlds {
		r, err := olm.NewResolver(b.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, answer(r, w))
	}
	shared, err := olm.NewResolver(b.sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for _, k := range rand.New(rand.NewPCG(uint64(i), 0)).Perm(len(b.worlds)) {
				if got := answer(shared, b.worlds[k]); got != want[k] {
					t.Errorf("world %d: got %s, want %s", k, got, want[k])
				}
			}
		})
	}
	group.Wait()
}

// TestOrderOfInput verifies that no answer, and no explanation with its advice,
// depends on the order in which things are listed.
func TestOrderOfInput(t *testing.T) {
	n := long.N(40, 20_000)
	rnd := rand.New(rand.NewPCG(3, 3))
	for b := range batches(t, n) {
		for _, w := range b.worlds {
			first := ""
			for range 3 {
				sources, req := slices.Clone(b.sources), w.request()
				rnd.Shuffle(len(sources), func(i, k int) { sources[i], sources[k] = sources[k], sources[i] })
				rnd.Shuffle(len(req.Subscriptions), func(i, k int) {
					req.Subscriptions[i], req.Subscriptions[k] = req.Subscriptions[k], req.Subscriptions[i]
				})
				rnd.Shuffle(len(req.Installed), func(i, k int) { req.Installed[i], req.Installed[k] = req.Installed[k], req.Installed[i] })
				text := ""
				for _, opts := range []olm.Options{{}, {PartialOK: true}} {
					r, err := olm.NewResolver(sources, &opts)
					if err != nil {
						t.Fatal(err)
					}
					text += new(scenario).printResult(r.Resolve(t.Context(), req)) + "\n"
					for _, c := range w.installed {
						_, err := r.Adopt(t.Context(), req, c.name, "")
						text += fmt.Sprintln(err)
					}
				}
				if first == "" {
					first = text
				}
				if text != first {
					t.Fatalf("got %s and %s\n%s", first, text, w)
				}
			}
		}
	}
}

// TestCancelled verifies that a canceled context ends every question.
func TestCancelled(t *testing.T) {
	s := parseScenario(t, deepConflict)
	r, err := olm.NewResolver(s.sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Resolve(cancelled, s.request); !errors.Is(err, context.Canceled) {
		t.Errorf("Resolve: got %v, want context.Canceled", err)
	}
	if _, err := r.ResolveNamespaces(cancelled, []*olm.Request{s.request}); !errors.Is(err, context.Canceled) {
		t.Errorf("ResolveNamespaces: got %v, want context.Canceled", err)
	}
	s.request.Subscriptions[0].Spec.Channel = "none"
	_, err = r.Resolve(context.Background(), s.request)
	var unsat *olm.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	if _, err := unsat.Explain(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("Explain: got %v, want context.Canceled", err)
	}
}

// FuzzAnnotation resolves with an installed CSV that has an arbitrary
// annotation.
func FuzzAnnotation(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"properties":[]}`, `{"properties":[{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"K"}}]}`,
		`{"properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},{"type":"olm.deprecated","value":{}}]}`,
		`{"properties":[{"type":"olm.constraint","value":{"any":{"constraints":[{"cel":{"rule":"true"}}]}}}]}`,
		`{"properties":[{"type":"olm.package.required","value":{"packageName":"b","versionRange":">=1.0.0"}}]}`, `[]`, `{"properties":{}}`, ``,
	} {
		f.Add(seed)
	}
	s := parseScenario(f, "catalog c\na stable*: a.v2 -> a.v1\na.v2: requires api K\nk stable*: k.v1\nk.v1: provides K\nsubscription a a/stable installed=a.v1\n")
	r, err := olm.NewResolver(s.sources, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, annotation string) {
		req := *s.request
		req.Installed = []olm.ClusterServiceVersion{{
			ObjectMeta: olm.ObjectMeta{Name: "a.v1", Namespace: testNamespace, Annotations: map[string]string{olm.PropertiesAnnotation: annotation}},
			Spec:       olm.CSVSpec{Version: "1.0.0"},
		}}
		_, err := r.Resolve(context.Background(), &req)
		var unsat *olm.UnsatError
		if errors.As(err, &unsat) {
			if x, err := unsat.Explain(context.Background()); err != nil || len(x.Findings) == 0 {
				t.Errorf("no explanation: %v", err)
			}
		}
	})
}
