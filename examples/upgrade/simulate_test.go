package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
)

// TestSimulatedUpdates plays random scenarios, and checks what the timeline
// tells: no runlevel begins before the operators of the ones below are there, no
// more nodes are down than the pool allows, all nodes come to the release.
func TestSimulatedUpdates(t *testing.T) {
	for seed := range uint64(long.N(20, 2_000)) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var text strings.Builder
		text.WriteString("kind: Scenario\nspec:\n  from: {version: 4.18.20}\n  to: {version: 4.19.3}\n  components:\n")
		level := map[string]string{}
		operators := ""
		for i := range 1 + rnd.IntN(5) {
			name, at := fmt.Sprintf("op-%d", i), 10*(1+rnd.IntN(4))
			level["operator "+name] = fmt.Sprintf("runlevel %d", at)
			fmt.Fprintf(&text, "  - {runlevel: %d, name: %s, objects: %d, operator: true}\n", at, name, rnd.IntN(3))
			operators += fmt.Sprintf("  - {name: %s, takes: %dm, degraded: {after: %dm, for: %dm}}\n", name, rnd.IntN(20), rnd.IntN(9), 1+rnd.IntN(90))
		}
		nodes, budget := 1+rnd.IntN(6), 1+rnd.IntN(3)
		fmt.Fprintf(&text, "  - {runlevel: 80, name: machine-config, operator: true}\n  operators:\n%s  pools:\n  - name: worker\n    required: true\n    maxUnavailable: %d\n    nodes:\n", operators, budget)
		for i := range nodes {
			fmt.Fprintf(&text, "    - {name: n-%d, drain: %dm, update: %dm}\n", i, rnd.IntN(9), 1+rnd.IntN(9))
		}
		if nodes > budget && rnd.IntN(2) == 0 { // else the pods have nowhere to go
			text.WriteString("    workloads: [{name: shop, replicas: 4, minAvailable: 50%}]\n")
		}
		file := filepath.Join(t.TempDir(), "scenario.yaml")
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := readScenario(file)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text.String())
		}
		line, err := s.play(t.Context())
		if err == nil {
			err = line.check(level, budget, nodes)
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text.String())
		}
	}
}

// check tells what is wrong with the timeline of an update that comes to its
// end.
func (t *timeline) check(level map[string]string, budget, nodes int) error {
	if len(t.Unfinished) > 0 {
		return fmt.Errorf("it is not finished: %v", t.Unfinished)
	}
	arrived, down, done := map[string]time.Time{}, map[string]bool{}, 0
	for _, m := range t.Moments {
		switch {
		case strings.HasPrefix(m.Text, "is at "+t.To):
			arrived[m.Subject] = m.At
		case m.Subject != "cluster" && m.Text == "begins":
			for op, l := range level {
				if l < m.Subject && arrived[op].IsZero() {
					return fmt.Errorf("%s begins at %s, and %s of %s is not there", m.Subject, m.At, op, l)
				}
			}
		case m.Text == "is cordoned and drained":
			if down[m.Subject] = true; len(down) > budget {
				return fmt.Errorf("%d nodes are down at %s, and %d may be", len(down), m.At, budget)
			}
		case m.Text == "is done and takes pods again":
			delete(down, m.Subject)
			done++
		}
	}
	if done != nodes || len(arrived) != len(level)+1 {
		return fmt.Errorf("%d of %d nodes and %d of %d operators came to the release", done, nodes, len(arrived), len(level)+1)
	}
	return nil
}
