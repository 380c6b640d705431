package update

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
)

// TestSimulatedUpdates runs random scenarios and checks the timeline: no runlevel
// begins before the operators of lower ones are updated, no node is begun while as
// many are down as the pool allows, no pod leaves before it must, no pod that
// tolerates the taint forever leaves, and all nodes reach the release.
func TestSimulatedUpdates(t *testing.T) {
	evicted := 0
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
			fmt.Fprintf(&text, "    - {name: n-%d, drain: %dm, update: %dm, reboot: %ds, zone: z-%d}\n", i, rnd.IntN(9), 1+rnd.IntN(9), rnd.IntN(400), rnd.IntN(2))
		}
		if nodes > budget && rnd.IntN(2) == 0 { // else there is no node for the pods
			text.WriteString("    workloads:\n    - {name: shop, replicas: 4, minAvailable: 50%}\n    - {name: logs, daemon: true}\n")
			text.WriteString("    - {name: quick, replicas: 4, tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 60}]}\n")
		}
		if rnd.IntN(2) == 0 {
			text.WriteString("  outages:\n")
			for range 1 + rnd.IntN(4) {
				fmt.Fprintf(&text, "  - {after: %dm, for: %ds, nodes: [n-%d], notReady: %v}\n", rnd.IntN(150), 1+rnd.IntN(3600), rnd.IntN(nodes), rnd.IntN(2) == 0)
			}
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
			for _, m := range line.Moments {
				evicted += strings.Count(m.Text, "is evicted")
			}
			err = line.check(level, budget, nodes)
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text.String())
		}
	}
	if evicted == 0 {
		t.Error("no pod was evicted for a taint")
	}
	t.Logf("%d pods were evicted for taints", evicted)
}

// check reports what is wrong with the timeline of an update that completes.
func (t *timeline) check(level map[string]string, budget, nodes int) error {
	if len(t.Unfinished) > 0 {
		return fmt.Errorf("it is not finished: %v", t.Unfinished)
	}
	arrived, down, done := map[string]time.Time{}, map[string]bool{}, 0
	unready, tainted := map[string]bool{}, map[string]time.Time{}
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
			down[m.Subject] = true
			all := maps.Clone(down)
			maps.Copy(all, unready)
			if len(all) > budget {
				return fmt.Errorf("%d nodes are down at %s, and %d may be", len(all), m.At, budget)
			}
		case m.Text == "is done and uncordoned":
			delete(down, m.Subject)
			done++
		case strings.HasSuffix(m.Text, ": Ready is Unknown"), m.Text == "reports that it is not ready", m.Text == "reports again, and is not ready":
			unready[m.Subject] = true
		case m.Text == "is ready again":
			delete(unready, m.Subject)
		case strings.HasPrefix(m.Text, "gets taint "):
			for word := range strings.FieldsSeq(m.Text) {
				tainted[m.Subject+" "+word] = m.At
			}
		case strings.HasPrefix(m.Text, "loses taint "):
			for word := range strings.FieldsSeq(m.Text) {
				delete(tainted, m.Subject+" "+word)
			}
		case strings.HasPrefix(m.Text, "is evicted from "):
			words := strings.Fields(strings.Map(func(r rune) rune { // is evicted from node N for taint T
				if strings.ContainsRune(",;", r) {
					return ' '
				}
				return r
			}, m.Text))
			cause := "node " + words[4] + " " + words[7]
			name, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, "pod apps/"), "-")
			stays := map[string]time.Duration{"shop": 300 * time.Second, "quick": time.Minute, "logs": never}[name]
			if since, is := tainted[cause]; !is || m.At.Before(since.Add(stays)) {
				return fmt.Errorf("%s %s at %s, and may stay for %s since %s", m.Subject, m.Text, m.At, stays, since)
			}
		}
	}
	if done != nodes || len(arrived) != len(level)+1 {
		return fmt.Errorf("%d of %d nodes and %d of %d operators came to the release", done, nodes, len(arrived), len(level)+1)
	}
	return nil
}
