// Package plugins is a plugin manager for a program: it reads a registry over HTTP,
// asks only for what the choice takes, and lets plugins say what they need by rules in
// CEL. It shows solver.Lazy, solver.Minimize and explanations together.
//
// A need is the name of a plugin, or of a plugin and a rule on its properties:
//
//	dictionary
//	dictionary: properties.exists(p, p.type == "api" && p.value >= 3)
package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/fairlead/fairlead/solver"
	"github.com/fairlead/fairlead/solver/rule"
)

// Release is one version of a plugin, as the registry describes it.
type Release struct {
	Name       string          `json:"name"`                 // identifies it, such as "spell 2.1"
	Plugin     string          `json:"plugin"`               // whose release it is, such as "spell"
	KiB        int64           `json:"kib"`                  // the size of the download, at least 0
	Properties []rule.Property `json:"properties,omitempty"` // what the rules of needs are about, in any order
	Needs      []string        `json:"needs,omitempty"`      // all must be met
	Excludes   []string        `json:"excludes,omitempty"`   // what meets these cannot be installed beside it
}

// Registry answers from a web server: POST /releases with a JSON list of plugins returns
// a list of releases for each, the newest first. It implements solver.Source, is asked
// about several needs with one request, and remembers what it has seen.
type Registry struct {
	URL    string       // without a slash at the end
	Client *http.Client // nil means http.DefaultClient

	rules    *rule.Compiler
	plugins  map[string][]*Release
	releases map[string]*Release
}

// Candidates implements solver.Source.
func (r *Registry) Candidates(ctx context.Context, needs []string) ([][]solver.Candidate, error) {
	if err := r.fetch(ctx, needs); err != nil {
		return nil, err
	}
	all := make([][]solver.Candidate, len(needs))
	for i, need := range needs {
		plugin, text, ruled := strings.Cut(need, ":")
		var holds *rule.Rule
		if ruled {
			var err error
			if holds, err = r.rules.Compile(strings.TrimSpace(text)); err != nil {
				return nil, fmt.Errorf("need %q: %w", need, err)
			}
		}
		for _, release := range r.plugins[plugin] {
			if holds != nil {
				ok, err := holds.Match(ctx, rule.Prepare(release.Properties))
				if err != nil {
					return nil, fmt.Errorf("need %q, of %s: %w", need, release.Name, err)
				}
				if !ok {
					continue
				}
			}
			all[i] = append(all[i], solver.Candidate{Name: release.Name, Slot: plugin})
		}
	}
	return all, nil
}

// Requirements implements solver.Source: they came with the releases.
func (r *Registry) Requirements(_ context.Context, candidates []string) ([]solver.Requirements, error) {
	all := make([]solver.Requirements, len(candidates))
	for i, name := range candidates {
		release := r.releases[name]
		all[i] = solver.Requirements{Needs: release.Needs, Excludes: release.Excludes}
	}
	return all, nil
}

// fetch asks for the plugins of needs that are not known yet.
func (r *Registry) fetch(ctx context.Context, needs []string) error {
	if r.plugins == nil {
		var err error
		if r.rules, err = rule.NewCompiler(nil); err != nil {
			return err
		}
		r.plugins, r.releases = make(map[string][]*Release), make(map[string]*Release)
	}
	var ask []string
	for _, need := range needs {
		plugin, _, _ := strings.Cut(need, ":")
		if _, known := r.plugins[plugin]; !known {
			r.plugins[plugin] = nil
			ask = append(ask, plugin)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	var lists [][]*Release
	if err := r.post(ctx, ask, &lists); err != nil {
		for _, plugin := range ask {
			delete(r.plugins, plugin)
		}
		return fmt.Errorf("registry %s: %w", r.URL, err)
	}
	for i, plugin := range ask {
		r.plugins[plugin] = lists[i]
		for _, release := range lists[i] {
			r.releases[release.Name] = release
		}
	}
	return nil
}

// answerMax bounds what is read of an answer.
const answerMax = 64 << 20

func (r *Registry) post(ctx context.Context, plugins []string, lists *[][]*Release) error {
	body, err := json.Marshal(plugins)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/releases", bytes.NewReader(body))
	if err != nil {
		return err
	}
	client := r.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, answerMax)).Decode(lists); err != nil {
		return err
	}
	if len(*lists) != len(plugins) {
		return fmt.Errorf("%d lists for %d plugins", len(*lists), len(plugins))
	}
	return nil
}

// Install returns the best releases that meet the needs, the newest of the first need
// above all. If there are none, the error is a *NoneError.
func (r *Registry) Install(ctx context.Context, needs []string) ([]*Release, error) {
	l := solver.NewLazy(r)
	s, err := l.Solve(ctx, needs, nil)
	if errors.As(err, new(*solver.UnsatError)) {
		return nil, none(ctx, l, needs)
	}
	if err != nil {
		return nil, err
	}
	return r.selected(s), nil
}

// Smallest returns the releases that meet the needs with the least to download, and how
// much that is, in KiB. It asks about everything that the needs can lead to.
func (r *Registry) Smallest(ctx context.Context, needs []string) (all []*Release, kib int64, err error) {
	l := solver.NewLazy(r)
	p, err := l.Everything(ctx, needs)
	if err != nil {
		return nil, 0, err
	}
	size := solver.Criterion{Name: "size"}
	for v := solver.Var(1); int(v) <= p.NumVars(); v++ {
		size.Terms = append(size.Terms, solver.Term{Lit: v.Yes(), Weight: r.releases[p.Name(v)].KiB})
	}
	best, err := solver.Minimize(ctx, p, []solver.Criterion{size}, nil)
	if errors.As(err, new(*solver.UnsatError)) {
		return nil, 0, none(ctx, l, needs)
	}
	if err != nil {
		return nil, 0, err
	}
	return r.selected(best.Solution), best.Costs[0], nil
}

func (r *Registry) selected(s *solver.Solution) []*Release {
	var all []*Release
	for v := range s.Selected() {
		all = append(all, r.releases[s.Problem().Name(v)])
	}
	return all
}

// NoneError says why no releases meet some needs, and what would help, in at most
// twelve lines.
type NoneError struct {
	Explanation *solver.Explanation // with fixes that were tried
}

// Error returns the explanation.
func (e *NoneError) Error() string {
	return "the plugins cannot be installed.\n" + e.Explanation.String()
}

func none(ctx context.Context, l *solver.Lazy, needs []string) error {
	x, err := l.Explain(ctx, needs, &solver.ExplainOptions{MaxLines: 11})
	if err != nil {
		return err
	}
	return &NoneError{x}
}
