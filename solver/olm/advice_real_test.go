package olm_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/archive"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestAdviceOnRealPairs asks for pairs of packages of a real catalog, all of them
// in long runs, and for one of a pair where the other is installed. Where that is
// impossible the explanation has at most ExplanationLines lines, and each piece of
// advice helps when it is carried out.
func TestAdviceOnRealPairs(t *testing.T) {
	held := slimCatalog(t)
	r, err := olm.NewResolver([]olm.Source{{SourceKey: olm.SourceKey{Name: "c"}, Catalog: held}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string // that can be had alone
	heads := map[string]string{}
	for p := range held.Packages() {
		if len(names) >= long.N(12, 1<<20) {
			break
		}
		req, err := r.Request("ns", &olm.Case{Subscriptions: []string{p.Name()}})
		if err != nil {
			t.Fatal(err)
		}
		if res, err := r.Resolve(t.Context(), req); err == nil {
			names = append(names, p.Name())
			for _, c := range res.Chosen {
				if c.Package == p.Name() {
					heads[p.Name()] = c.Name
				}
			}
		}
	}
	j := &realJudge{t: t, r: r}
	for i, a := range names {
		for _, b := range names[i+1:] {
			j.ask(&olm.Case{Subscriptions: []string{a, b}}, nil)
			if j.impossible > 0 && j.last && j.installed < 100 {
				j.installed++
				j.ask(&olm.Case{Subscriptions: []string{b}}, []string{heads[a]})
			}
		}
	}
	t.Logf("%d packages, %d requests, %d impossible, %d with an operator installed, %d advised, %d pieces carried out; %d lines at most",
		len(names), j.asked, j.impossible, j.installed, j.advised, j.carried, j.longest)
}

// slimCatalog opens a real catalog, or skips the test.
func slimCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	data := os.Getenv("FAIRLEAD_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(data, "catalog", "slim.tar.gz"))
	if err != nil {
		t.Skipf("no real catalog here: %v", err)
	}
	defer f.Close()
	files, err := archive.Read(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	held, err := catalog.Open(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// realJudge asks, and checks what is explained.
type realJudge struct {
	t                            *testing.T
	r                            *olm.Resolver
	asked, impossible, installed int
	advised, carried, longest    int
	last                         bool // whether the last was impossible
}

func (j *realJudge) ask(c *olm.Case, installed []string) {
	j.asked++
	build := func() *olm.Request {
		with := *c
		with.Installed = installed
		req, err := j.r.Request("ns", &with)
		if err != nil {
			j.t.Fatal(err)
		}
		return req
	}
	_, err := j.r.Resolve(j.t.Context(), build())
	var unsat *olm.UnsatError
	if j.last = errors.As(err, &unsat); !j.last {
		if err != nil {
			j.t.Fatal(err)
		}
		return
	}
	j.impossible++
	x, err := unsat.Explain(j.t.Context())
	if err != nil {
		j.t.Fatal(err)
	}
	lines := strings.Count(x.String(), "\n") + 1
	if j.longest = max(j.longest, lines); lines > olm.ExplanationLines {
		j.t.Errorf("%v beside %v: %d lines", c.Subscriptions, installed, lines)
	}
	if len(x.Advice) == 0 && x.None == "" {
		j.t.Errorf("%v beside %v: neither advice nor that there is none", c.Subscriptions, installed)
	}
	if len(x.Advice) > 0 {
		j.advised++
	}
	for _, text := range x.Advice {
		req := build()
		done, err := carryOut(req, text)
		if err != nil {
			j.t.Fatalf("%s: %v", text, err)
		}
		if !done {
			continue
		}
		j.carried++
		if _, err := j.r.Resolve(j.t.Context(), req); err != nil {
			j.t.Errorf("%v beside %v: %q does not help: %v", c.Subscriptions, installed, text, err)
		}
	}
}
