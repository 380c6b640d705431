package resolution

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/bench/registry"
	"github.com/fairlead/fairlead/solver/olm"
)

// goldenCase is a case on the real catalog with the answer of OLM's resolver.
type goldenCase struct {
	olm.Case
	Chosen []string
	Error  string
}

// source is the name under which the real catalog is resolved.
var source = olm.SourceKey{Name: "community", Namespace: taskNamespace}

// unpacked unpacks the real catalog into a new directory, which the caller
// removes.
func unpacked() (string, error) {
	archive := registry.DataPath("slim.tar.gz")
	if _, err := os.Stat(archive); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "catalog")
	if err != nil {
		return "", err
	}
	if _, err := registry.Unpack(archive, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// open opens a catalog from a directory, as the only source.
func open(ctx context.Context, dir string) ([]olm.Source, error) {
	held, err := catalog.Open(ctx, os.DirFS(dir), nil)
	if err != nil {
		return nil, err
	}
	return []olm.Source{{SourceKey: source, Catalog: held}}, nil
}

// goldenCases reads the cases of some kinds, or all if none is named.
func goldenCases(kinds ...string) ([]goldenCase, error) {
	f, err := os.Open(registry.DataPath("olm-golden.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var all []goldenCase
	for d := json.NewDecoder(z); ; {
		var c goldenCase
		if err := d.Decode(&c); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		slices.Sort(c.Chosen)
		if len(kinds) == 0 || slices.Contains(kinds, c.Kind) {
			all = append(all, c)
		}
	}
}

// same compares our answer with the golden one. OLM updates some operators to
// themselves because of their skipRange; ours has nothing to do there.
func (c *goldenCase) same(a *olm.Answer) bool {
	itself := len(c.Installed) == 1 && len(c.Chosen) == 1 && strings.HasSuffix(c.Chosen[0], "/"+c.Installed[0]) && len(a.Chosen) == 0
	return a.Unsatisfiable == (c.Error != "") && (itself || slices.Equal(a.Chosen, c.Chosen))
}

// answerGolden opens the catalog of a directory, answers all golden cases, and
// compares.
func answerGolden(ctx context.Context, dir string) error {
	cases, err := goldenCases()
	if err != nil {
		return err
	}
	sources, err := open(ctx, dir)
	if err != nil {
		return err
	}
	r, err := olm.NewResolver(sources, nil)
	if err != nil {
		return err
	}
	for i := range cases {
		a, err := r.Answer(ctx, taskNamespace, &cases[i].Case)
		if err != nil {
			return err
		}
		if !cases[i].same(a) {
			return fmt.Errorf("case %d, %v: chose %v, OLM %v", i, cases[i].Subscriptions, a.Chosen, cases[i].Chosen)
		}
	}
	return nil
}

// fifty returns a request for the first fifty packages that can be installed together.
func fifty(ctx context.Context, r *olm.Resolver, held *catalog.Catalog) (*olm.Request, error) {
	var c olm.Case
	for p := range held.Packages() {
		if len(c.Subscriptions) == 50 {
			break
		}
		c.Subscriptions = append(c.Subscriptions, p.Name())
		req, err := r.Request(taskNamespace, &c)
		if err != nil {
			return nil, err
		}
		if _, err := r.Resolve(ctx, req); errors.As(err, new(*olm.UnsatError)) {
			c.Subscriptions = c.Subscriptions[:len(c.Subscriptions)-1]
		} else if err != nil {
			return nil, err
		}
	}
	return r.Request(taskNamespace, &c)
}
