package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/cvo/graph"
)

// What cannot be read blocks all: an expression of a release, and one of a file
// of blocked edges.
func TestUnreadableExpression(t *testing.T) {
	const text = `{"nodes":[{"version":"4.1.0","payload":"a"},{"version":"4.1.1","payload":"b"},{"version":"4.2.0","payload":"c"%s}],"edges":[[0,1],[0,2],[1,2]]}`
	for name, c := range map[string]struct {
		metadata, file string
		want           int
	}{
		"nothing":             {"", "", 2},
		"of the release":      {`,"metadata":{"io.openshift.upgrades.graph.previous.remove_regex":"4[.1"}`, "", 0},
		"one that is well":    {`,"metadata":{"io.openshift.upgrades.graph.previous.remove_regex":"4[.]1[.]1"}`, "", 1},
		"of a file":           {"", "to: 4.2.0\nfrom: 4[.\n", 0},
		"of a risk":           {"", "to: 4.2.0\nfrom: 4[.\nname: R\nurl: u\nmessage: m\nmatchingRules: [{type: Always}]\n", 0},
		"missing":             {"", "to: 4.2.0\n", 0},
		"of a file, readable": {"", "to: 4.2.0\nfrom: 4[.]1[.]0\n", 1},
	} {
		raw, found := graph.Parse(fmt.Appendf(nil, text, c.metadata), nil)
		if raw == nil {
			t.Fatal(found)
		}
		data := &graph.Data{}
		if c.file != "" {
			data, _ = graph.ReadData(fstest.MapFS{"blocked-edges/a.yaml": &fstest.MapFile{Data: []byte(c.file)}})
		}
		g := data.Assemble(raw, nil)
		n := 0
		for _, from := range []string{"4.1.0", "4.1.1"} {
			u, err := g.Updates(from)
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range u.Available {
				if to.Version == "4.2.0" {
					n++
				}
			}
		}
		if n != c.want {
			t.Errorf("%s: %d updates lead to it, not %d", name, n, c.want)
		}
	}
}

// Of two builds of one version the first counts for who names none, as in the
// reference; who names one gets it.
func TestTwoBuilds(t *testing.T) {
	g, _ := graph.Parse([]byte(`{"nodes":[{"version":"4.1.0+amd64","payload":"a"},{"version":"4.1.0+s390x","payload":"b"},{"version":"4.1.1","payload":"c"},{"version":"4.1.2","payload":"d"}],"edges":[[0,2],[1,3]]}`), nil)
	for from, want := range map[string]string{"4.1.0": "4.1.1", "4.1.0+amd64": "4.1.1", "4.1.0+s390x": "4.1.2", "4.1.0+arm64": "4.1.1"} {
		u, err := g.Updates(from)
		if err != nil || strings.Join(versions(u.Available), " ") != want {
			t.Errorf("%s: %+v, %v", from, u, err)
		}
	}
}

// An update leads to the build of the release that it begins at, if none is named.
func TestBuildOfTheSame(t *testing.T) {
	g, _ := graph.Parse([]byte(`{"nodes":[{"version":"4.1.0+s390x","payload":"a"},{"version":"4.1.1+amd64","payload":"b"},{"version":"4.1.1+s390x","payload":"c"},{"version":"4.1.2","payload":"d"}],"edges":[[0,2],[2,3]]}`), nil)
	for to, want := range map[string]int{"4.1.1": 1, "4.1.1+s390x": 1, "4.1.1+amd64": 0, "4.1.2": 1} {
		paths, err := g.Paths(t.Context(), "4.1.0", to, nil)
		if len(paths) != want || err != nil {
			t.Errorf("%s: %v, %v", to, paths, err)
		}
		if why, err := g.WhyNot(t.Context(), "4.1.0", to, nil); err != nil || why == nil {
			t.Errorf("%s: %v, %v", to, why, err)
		}
	}
}

// Results from the future do not hold: the clock was set back.
func TestResultsFromTheFuture(t *testing.T) {
	for _, err := range []error{nil, errors.New("no answer")} {
		e := graph.Evaluations{}.With(promql("a"), true, err, noon.Add(24*time.Hour))
		e.Last = noon.Add(24 * time.Hour)
		next, due, _ := e.Due(updateWith("a"), noon, nil)
		if len(due) != 1 {
			t.Fatalf("%v: %v are due", err, due)
		}
		next = next.With(promql("a"), true, nil, noon)
		if _, due, wake := next.Due(updateWith("a"), noon.Add(time.Minute), nil); len(due) != 0 || wake.After(noon.Add(time.Hour)) {
			t.Errorf("%v: %v are due again, and the next at %v", err, due, wake)
		}
	}
}

// A search ends soon after its context, with what was found.
func TestPathsEnd(t *testing.T) {
	const n = 60
	var nodes, edges []string
	for i := range n {
		nodes = append(nodes, fmt.Sprintf(`{"version":"4.1.%d","payload":"p%d"}`, i, i))
		for j := i + 1; j < n; j++ {
			edges = append(edges, fmt.Sprintf("[%d,%d]", i, j))
		}
	}
	g, found := graph.Parse([]byte(`{"nodes":[`+strings.Join(nodes, ",")+`],"edges":[`+strings.Join(edges, ",")+`]}`), nil)
	if g == nil {
		t.Fatal(found)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Paths(ctx, "4.1.0", "4.1.59", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("one path: %v", err)
	}
	if _, err := g.WhyNot(ctx, "4.1.0", "4.1.59", nil); err != nil {
		t.Errorf("an update that is there takes no search: %v", err)
	}
	paths, err := g.Paths(&counted{Context: t.Context(), left: 20}, "4.1.0", "4.1.59", &graph.PathOptions{Max: 1 << 30, Steps: 1 << 30})
	if !errors.Is(err, context.Canceled) || len(paths) == 0 {
		t.Errorf("%d paths, %v", len(paths), err)
	}
}

// counted is a context that ends when it was asked for the nth time.
type counted struct {
	context.Context
	left int
}

// Err implements context.Context.
func (c *counted) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
