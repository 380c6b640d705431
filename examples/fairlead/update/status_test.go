package update

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// recorded returns the recorded clusters by the files with the known facts about them.
func recorded(t *testing.T) []string {
	dir := samples.Data(t, "updates", "status")
	files, _ := filepath.Glob(filepath.Join(dir, "*.output"))
	if len(files) == 0 {
		t.Skip("no recorded clusters: " + dir)
	}
	return files
}

// readFiles reads a dump.
func readFiles(t *testing.T, name string) (*cvo.Dump, error) {
	c := &args.Call{Context: t.Context(), Flags: flag.NewFlagSet("", flag.ContinueOnError), Stderr: io.Discard}
	known, err := readDump(reading.Declare(c), name)
	if err != nil {
		return nil, err
	}
	return known.UpdateDump(), nil
}

// For each recorded cluster the report contains every known fact.
func TestRecordedStatus(t *testing.T) {
	for _, file := range recorded(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := readFiles(t, strings.TrimSuffix(file, ".output"))
			if err != nil {
				t.Fatal(err)
			}
			r := cvo.Inspect(d, latest(d)) // as the recorded program takes the time; some of these dumps were put together
			compare(t, string(text), r)
			var out strings.Builder
			if err := printStatus(&out, r, nil, false); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out.String(), "\n"); n > 25 {
				t.Errorf("it takes %d lines:\n%s", n, out.String())
			}
		})
	}
}

// If part of the evidence is missing, no statement becomes better.
func TestMissingEvidence(t *testing.T) {
	severity := map[cvo.Severity]int{cvo.SeverityInfo: 0, cvo.SeverityWarning: 1, cvo.SeverityError: 2}
	for _, file := range recorded(t) {
		prefix := strings.TrimSuffix(file, ".output")
		whole, err := readFiles(t, prefix)
		if err != nil {
			t.Fatal(err)
		}
		now := latest(whole)
		full := cvo.Inspect(whole, now)
		for name, drop := range map[string]func(*cvo.Dump){
			"cv": func(d *cvo.Dump) { d.Version = nil }, "co": func(d *cvo.Dump) { d.Operators = nil }, "mcp": func(d *cvo.Dump) { d.Pools = nil },
			"node": func(d *cvo.Dump) { d.Nodes = nil }, "mc": func(d *cvo.Dump) { d.Configs = nil }, "alerts": func(d *cvo.Dump) { d.Alerts = nil },
			"all": func(d *cvo.Dump) { *d = cvo.Dump{} }, "all but cv": func(d *cvo.Dump) { *d = cvo.Dump{Version: d.Version} }, "all but nodes": func(d *cvo.Dump) { *d = cvo.Dump{Nodes: d.Nodes, Pools: d.Pools} },
		} {
			d := *whole
			drop(&d)
			r := cvo.Inspect(&d, now)
			at := filepath.Base(prefix) + " without " + name
			if r.Well() {
				t.Errorf("%s: all is well", at)
			}
			if name != "alerts" && len(r.Gaps) <= len(full.Gaps) {
				t.Errorf("%s: nothing more is told to be unknown: %v", at, r.Gaps)
			}
			for _, g := range r.Gaps {
				if g.How == "" {
					t.Errorf("%s: nobody says how to know %s", at, g.What)
				}
			}
			if r.Assessment != full.Assessment && r.Assessment != cvo.AssessUnknown && !(full.Assessment == cvo.AssessDegraded && r.Assessment == cvo.AssessProgressing) {
				t.Errorf("%s: %s becomes %s", at, full.Assessment, r.Assessment)
			}
			if c := r.Completion; c.Known && c != full.Completion || !c.Known && (c.Updated > 0 || c.Percent > 0) {
				t.Errorf("%s: completion %+v, not %+v", at, c, full.Completion)
			}
			if !r.Updating && full.Updating || r.Remaining != nil && (full.Remaining == nil || *r.Remaining != *full.Remaining) {
				t.Errorf("%s: updating %v, %v remain", at, r.Updating, r.Remaining)
			}
			for _, p := range r.Pools {
				k := slices.IndexFunc(full.Pools, func(o cvo.PoolReport) bool { return o.Name == p.Name })
				if p.State == "updated" && full.Pools[k].State != "updated" || p.Updated > full.Pools[k].Updated {
					t.Errorf("%s: pool %+v, and was %+v", at, p, full.Pools[k])
				}
			}
			for _, n := range r.Nodes {
				k := slices.IndexFunc(full.Nodes, func(o cvo.NodeReport) bool { return o.Name == n.Name })
				if n.State == "updated" && full.Nodes[k].State != "updated" || !n.Down && full.Nodes[k].Down {
					t.Errorf("%s: node %+v, and was %+v", at, n, full.Nodes[k])
				}
			}
			for subject, s := range told(r) { // what is still reported is reported as bad
				if was, ok := told(full)[subject]; ok && severity[s] < severity[was] && name != "all but nodes" {
					t.Errorf("%s: %s is %s, and was %s", at, subject, s, was)
				}
			}
			if strings.Contains(r.Headline, "well") {
				t.Errorf("%s: %s", at, r.Headline)
			}
		}
	}
}

// unpacked writes a recorded cluster in the form of a must-gather, each object in its own
// file, and returns the files with their content.
func unpacked(t *testing.T, prefix, dir string) map[string]*snapshot.Ref {
	files := map[string]*snapshot.Ref{}
	write := func(file string, text []byte) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r := snapshot.Reader{Each: func(o *snapshot.Ref, text []byte) {
		file := filepath.Join(dir, "cluster-scoped-resources", strings.ToLower(o.Kind)+"s", o.Name+".yaml")
		files[file] = o
		write(file, text)
	}}
	for suffix, kind := range map[string]string{"cv": "ClusterVersion", "co": "ClusterOperator", "mcp": "MachineConfigPool", "node": "Node", "mc": "MachineConfig"} {
		text, err := os.ReadFile(prefix + "-" + suffix + ".yaml")
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = r.StreamOf(kind, bytes.NewReader(text), prefix)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(prefix + "-alerts.json"); err == nil {
		file := filepath.Join(dir, "alerts.json")
		files[file] = &snapshot.Ref{Kind: "Alerts"}
		write(file, text)
	}
	return files
}

// For each recorded cluster the must-gather gives the same report as the lists, and
// without any one of its files no better report on the rest: the files are removed one
// after the other, and the last report is compared with those before.
func TestDeletedFiles(t *testing.T) {
	// A feature set adds these, and no dump of this kind contains the cluster's feature set.
	previews := []string{"cluster-api", "olm", "platform-operators-aggregated"}
	severity := map[cvo.Severity]int{cvo.SeverityInfo: 0, cvo.SeverityWarning: 1, cvo.SeverityError: 2}
	for i, file := range recorded(t) {
		if i >= long.N(2, 1000) {
			break
		}
		prefix, dir := strings.TrimSuffix(file, ".output"), t.TempDir()
		files := unpacked(t, prefix, dir)
		whole, err := readFiles(t, prefix)
		if err != nil {
			t.Fatal(err)
		}
		now := latest(whole)
		own := false // something in the dump shows that the cluster has its own control plane
		inspect := func() *cvo.Report {
			d, err := readFiles(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			own = slices.ContainsFunc(d.Pools, func(p cvo.Pool) bool { return p.Name == "master" }) || slices.ContainsFunc(d.Nodes, func(n fairlead.Node) bool {
				_, is := n.Labels["node-role.kubernetes.io/master"]
				return is
			})
			return cvo.Inspect(d, now)
		}
		full := inspect()
		if a, b := fmt.Sprintf("%+v", full.Completion), fmt.Sprintf("%+v", cvo.Inspect(whole, now).Completion); a != b || full.Assessment != cvo.Inspect(whole, now).Assessment {
			t.Errorf("%s: as a must-gather %s, as lists %s", prefix, a, b)
		}
		names := slices.Sorted(maps.Keys(files))
		random := rand.New(rand.NewPCG(7, uint64(len(names))))
		for _, single := range []bool{true, false}[1-long.N(0, 1):] { // each file alone, and then one after the other
			random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			before := full
			for k, name := range names[:len(names)-1] {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				r, o := inspect(), files[name]
				at := fmt.Sprintf("%s: without %s %s, file %d", filepath.Base(prefix), o.Kind, o.Name, k)
				if r.Well() && !before.Well() && o.Kind != "Node" {
					t.Errorf("%s: all is well", at)
				}
				if own && o.Kind == "ClusterOperator" && !slices.Contains(previews, o.Name) && reflect.DeepEqual(r.Gaps, before.Gaps) && r.Completion.Known && r.Completion.Absent == before.Completion.Absent {
					t.Errorf("%s: nothing more is unknown: %v", at, r.Gaps)
				}
				if c := r.Completion; c.Updated > before.Completion.Updated || c.Healthy > before.Completion.Healthy || own && c.Percent > before.Completion.Percent {
					t.Errorf("%s: %+v, and was %+v", at, r.Completion, before.Completion)
				}
				if before.Updating && !r.Updating || before.Assessment != r.Assessment && (r.Assessment == cvo.AssessNotUpdating || r.Assessment == cvo.AssessCompleted) {
					t.Errorf("%s: %s becomes %s, updating %v", at, before.Assessment, r.Assessment, r.Updating)
				}
				if o.Kind == "Node" && len(r.Pools) > 0 && len(r.Gaps) <= len(before.Gaps) && !slices.ContainsFunc(before.Gaps, func(g cvo.Gap) bool {
					return strings.Contains(g.What, " counts") || strings.HasPrefix(g.What, "the nodes")
				}) {
					t.Errorf("%s: nothing more is unknown: %v", at, r.Gaps)
				}
				for _, p := range r.Pools {
					i := slices.IndexFunc(before.Pools, func(b cvo.PoolReport) bool { return b.Name == p.Name })
					if was := before.Pools[i]; p.Updated > was.Updated || p.State == "updated" && was.State != "updated" {
						t.Errorf("%s: pool %+v, and was %+v", at, p, was)
					}
				}
				was := told(before)
				for subject, s := range told(r) {
					if b, ok := was[subject]; ok && severity[s] < severity[b] {
						t.Errorf("%s: %s is %s, and was %s", at, subject, s, b)
					}
				}
				if single {
					if err := os.WriteFile(name, text, 0o600); err != nil {
						t.Fatal(err)
					}
				} else {
					before = r
				}
			}
		}
	}
}

// latest is the instant of a whole dump, so that parts of it are evaluated at the same
// instant.
func latest(d *cvo.Dump) time.Time {
	var last time.Time
	see := func(list []cvo.Condition) {
		for _, c := range list {
			if c.LastTransitionTime.After(last) {
				last = c.LastTransitionTime
			}
		}
	}
	see(d.Version.Status.Conditions)
	for _, o := range d.Operators {
		see(o.Status.Conditions)
	}
	return last
}

// told returns the worst report on each subject, by itself or below a cause.
func told(r *cvo.Report) map[string]cvo.Severity {
	all := map[string]cvo.Severity{}
	note := func(subject string, s cvo.Severity) {
		if was, ok := all[subject]; !ok || was == cvo.SeverityInfo || s == cvo.SeverityError {
			all[subject] = s
		}
	}
	for _, f := range r.Findings {
		if len(f.Explains) == 0 {
			note(f.Subject, f.Severity)
		}
		for _, s := range f.Explains {
			note(s.Subject, s.Severity)
		}
	}
	return all
}

// For each recorded cluster the same updates are recommended as in the recording,
// and the others are not, for the same reasons.
func TestRecordedRecommendations(t *testing.T) {
	const suffix = ".show-outdated-releases-output"
	dir := samples.Data(t, "updates", "recommend")
	files, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if len(files) == 0 {
		t.Skip("no recorded clusters: " + dir)
	}
	line := regexp.MustCompile(`(?m)^  (\d\S+) +(\S.*)$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prefix := strings.TrimSuffix(file, suffix)
		d, err := readFiles(t, prefix)
		if err != nil {
			t.Fatal(err)
		}
		a := cvo.Advise(d.Version, nil, nil)
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
	health     = regexp.MustCompile(`Operator Health: (\d+) Healthy(?:, (\d+) Unavailable)?(?:, (\d+) Available but degraded)?`)
	assessment = regexp.MustCompile(`Assessment: +(\S.*)`)
	took       = regexp.MustCompile(`Duration: +(\S+)(?: \(Est. Time Remaining: (.*)\))?`)
	updating   = regexp.MustCompile(`(?m)^Updating: +(.*)$`)
	unwell     = regexp.MustCompile(`Cluster Operator (\S+) is (degraded|unavailable) \((\S+)\)`)
	nodeLine   = regexp.MustCompile(`(?m)^(\S+) +(Degraded|Unavailable|Progressing|Outdated|Completed|Excluded) +(Pending|Draining|Updated|Updating|Rebooting|Paused) +(\S+) `)
	poolLine   = regexp.MustCompile(`(?m)^(\S+) +(Degraded|Pending|Excluded|Progressing) +\d+% \((\d+)/(\d+)\)`)
	incomplete = regexp.MustCompile(`\(from (incomplete )?(\S+)\)`)
	alertLine  = regexp.MustCompile(`Alert is firing: (.*)`)
	complete   = regexp.MustCompile(`successfully completed at (\S+) \(duration: (\S+)\)`)
	badNode    = regexp.MustCompile(`Node (\S+) is (degraded|not ready)`)
)

// compare checks every fact of a recorded report.
func compare(t *testing.T, want string, r *cvo.Report) {
	if m := completion.FindStringSubmatch(want); m != nil {
		c := r.Completion
		if got := fmt.Sprint(c.Percent, c.Updated, c.Updating, c.Waiting); got != strings.Join(m[1:], " ") {
			t.Errorf("completion %s, not %v", got, m[1:])
		}
	} else if r.Updating {
		t.Error("it is updating")
	}
	if m := health.FindStringSubmatch(want); m != nil {
		number := func(s string) string { return cmp.Or(s, "0") }
		if got := fmt.Sprint(r.Completion.Healthy, r.Completion.Unavailable, r.Completion.Degraded); got != m[1]+" "+number(m[2])+" "+number(m[3]) {
			t.Errorf("health %s, not %v", got, m[1:])
		}
	}
	if m := assessment.FindStringSubmatch(want); m != nil {
		if got := map[cvo.Assessment]string{cvo.AssessProgressing: "Progressing", cvo.AssessSlow: "Progressing - Slow", cvo.AssessStalled: "Stalled"}[r.Assessment]; got != m[1] {
			t.Errorf("assessed %s, not %s", r.Assessment, m[1])
		}
	}
	if m := took.FindStringSubmatch(want); m != nil {
		text := duration(r)
		got, err := time.ParseDuration(m[1])
		if d := r.Duration - got; err != nil || d > 30*time.Second || d < -30*time.Second {
			t.Errorf("it takes %v, not %s", r.Duration, m[1])
		}
		left := strings.TrimPrefix(strings.TrimPrefix(m[2], "N/A; estimate duration was "), "<")
		if !strings.Contains(strings.ReplaceAll(text, "0s", ""), left) {
			t.Errorf("%q, not %q", text, m[2])
		}
	}
	if m := complete.FindStringSubmatch(want); m != nil && (r.Until == nil || r.Until.UTC().Format(time.RFC3339) != m[1]) {
		t.Errorf("complete since %v, not %s", r.Until, m[1])
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
	all := told(r)
	for _, m := range unwell.FindAllStringSubmatch(want, -1) {
		if !slices.ContainsFunc(r.Operators, func(o cvo.OperatorReport) bool { return o.Name == m[1] && o.Health == m[2] && o.Reason == m[3] }) || all["clusteroperator "+m[1]] == "" {
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
		if i < 0 {
			t.Errorf("node %s is not told", m[1])
			continue
		}
		n := r.Nodes[i]
		switch m[2] {
		case "Degraded":
			if n.State != "degraded" {
				t.Errorf("node %v: %+v", m, n)
			}
		case "Unavailable":
			if !n.Down && !n.Cordoned {
				t.Errorf("node %v: %+v", m, n)
			}
		default:
			if state := map[string]string{"Outdated": "pending", "Completed": "updated", "Excluded": "paused", "Progressing": "draining"}[m[2]]; n.State != state {
				t.Errorf("node %v: %+v", m, n)
			}
		}
		if m[4] != "?" && n.Version != m[4] {
			t.Errorf("node %v: at %s", m, n.Version)
		}
	}
	for _, m := range badNode.FindAllStringSubmatch(want, -1) {
		if all["node "+m[1]] == "" {
			t.Errorf("node %s is not told to be %s", m[1], m[2])
		}
	}
	for _, m := range alertLine.FindAllStringSubmatch(want, -1) {
		if !slices.ContainsFunc(r.Findings, func(f cvo.Finding) bool {
			return strings.Contains(f.Message, m[1]) || slices.ContainsFunc(f.Explains, func(s cvo.Symptom) bool { return strings.Contains(s.Message, m[1]) })
		}) {
			t.Errorf("the alert %q is not told: %v", m[1], r.Findings)
		}
	}
	if strings.Contains(want, "paused pool") != slices.ContainsFunc(r.Findings, func(f cvo.Finding) bool { return f.Reason == "Paused" }) {
		t.Error("paused pools are not told")
	}
	if strings.Contains(want, "failing to proceed") && all["clusterversion version"] == "" {
		t.Error("nobody says that the cluster version fails")
	}
	if strings.Contains(want, "proceeding well") && slices.ContainsFunc(r.Findings, func(f cvo.Finding) bool { return f.Severity != cvo.SeverityInfo }) {
		t.Errorf("it proceeds well: %v", r.Findings)
	}
	for _, f := range r.Findings {
		if f.Next == "" || f.Message == "" || f.Subject == "" {
			t.Errorf("a finding that does not help: %+v", f)
		}
	}
}
