package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
)

// For each recorded cluster the report has the completion that was recorded, and
// names every operator, pool and node that was named.
func TestRecordedStatus(t *testing.T) {
	root := os.Getenv("FAIRLEAD_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	files, _ := filepath.Glob(filepath.Join(root, "updates", "status", "*.output"))
	if len(files) == 0 {
		t.Skip("no recorded clusters: " + root)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dump, err := readDump(strings.TrimSuffix(file, ".output"))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, string(text), cvo.Inspect(dump, time.Time{}))
		})
	}
}

// Of each recorded cluster the updates are recommended that were recommended,
// and not the others, for the same reason.
func TestRecordedRecommendations(t *testing.T) {
	const suffix = ".show-outdated-releases-output"
	root := os.Getenv("FAIRLEAD_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	files, _ := filepath.Glob(filepath.Join(root, "updates", "recommend", "*"+suffix))
	if len(files) == 0 {
		t.Skip("no recorded clusters: " + root)
	}
	line := regexp.MustCompile(`(?m)^  (\d\S+) +(\S.*)$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prefix := strings.TrimSuffix(file, suffix)
		dump, err := readDump(prefix)
		if err != nil {
			t.Fatal(err)
		}
		a := cvo.Advise(dump.Version, nil, nil)
		lines := line.FindAllStringSubmatch(string(text), -1)
		if len(lines) != len(a.Choices) {
			t.Errorf("%s: %d updates, not %d", prefix, len(a.Choices), len(lines))
		}
		for k, m := range lines {
			c := a.Choices[k]
			want := "no known issues relevant to this cluster"
			if !c.Clear() {
				want = c.Reason
			}
			if c.Release.Version != m[1] || want != m[2] || c.Clear() != strings.HasPrefix(m[2], "no known issues") {
				t.Errorf("%s: %v, not %s %s", prefix, m[1:], c.Release.Version, want)
			}
		}
	}
}

var (
	completion = regexp.MustCompile(`Completion: +(\d+)% \((\d+) operators updated, (\d+) updating, (\d+) waiting\)`)
	updating   = regexp.MustCompile(`(?m)^Updating: +(.*)$`)
	unwell     = regexp.MustCompile(`Cluster Operator (\S+) is (degraded|unavailable)`)
	nodeLine   = regexp.MustCompile(`(?m)^(\S+) +(Degraded|Unavailable|Progressing) +(Pending|Draining|Updated|Updating|Rebooting) `)
	poolLine   = regexp.MustCompile(`(?m)^(\S+) +(Degraded|Pending|Excluded|Progressing) +\d+% \((\d+)/(\d+)\)`)
	incomplete = regexp.MustCompile(`\(from (incomplete )?(\S+)\)`)
)

func compare(t *testing.T, want string, r *cvo.Report) {
	if m := completion.FindStringSubmatch(want); m != nil {
		c := r.Completion
		if got := fmt.Sprint(c.Percent, c.Updated, c.Updating, c.Waiting); got != strings.Join(m[1:], " ") {
			t.Errorf("completion %s, not %v", got, m[1:])
		}
	} else if r.Updating {
		t.Error("it is updating")
	}
	if m := incomplete.FindStringSubmatch(want); m != nil && (r.From != m[2] || r.Incomplete != (m[1] != "")) {
		t.Errorf("from %s, incomplete %v", r.From, r.Incomplete)
	}
	if m := updating.FindStringSubmatch(want); m != nil {
		for name := range strings.SplitSeq(m[1], ", ") {
			if !slices.ContainsFunc(r.Operators, func(o cvo.OperatorReport) bool { return o.Name == name && o.State == "updating" }) {
				t.Errorf("operator %s is not told to be updating", name)
			}
		}
	}
	for _, m := range unwell.FindAllStringSubmatch(want, -1) {
		if !slices.ContainsFunc(r.Operators, func(o cvo.OperatorReport) bool { return o.Name == m[1] && o.Health == m[2] }) || !found(r, "clusteroperator "+m[1]) {
			t.Errorf("operator %s is not told to be %s", m[1], m[2])
		}
	}
	for _, m := range poolLine.FindAllStringSubmatch(want, -1) {
		i := slices.IndexFunc(r.Pools, func(p cvo.PoolReport) bool { return p.Name == m[1] })
		if i < 0 || fmt.Sprint(r.Pools[i].Updated) != m[3] || fmt.Sprint(r.Pools[i].Total) != m[4] {
			t.Errorf("pool %v: %+v", m, r.Pools)
		}
	}
	for _, m := range nodeLine.FindAllStringSubmatch(want, -1) {
		i := slices.IndexFunc(r.Nodes, func(n cvo.NodeReport) bool { return n.Name == m[1] })
		if i < 0 || m[2] == "Degraded" && (r.Nodes[i].State != "degraded" || !found(r, "node "+m[1])) || m[2] == "Unavailable" && !r.Nodes[i].Down {
			t.Errorf("node %v: %+v", m, r.Nodes[i])
		}
	}
	if strings.Contains(want, "paused pool") != slices.ContainsFunc(r.Findings, func(f cvo.Finding) bool { return f.Reason == "Paused" }) {
		t.Error("paused pools are not told")
	}
	for _, f := range r.Findings {
		if f.Next == "" || f.Message == "" || f.Subject == "" {
			t.Errorf("a finding that does not help: %+v", f)
		}
	}
}

func found(r *cvo.Report, subject string) bool {
	return slices.ContainsFunc(r.Findings, func(f cvo.Finding) bool { return f.Subject == subject })
}
