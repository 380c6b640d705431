package plan_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// drawnCluster draws a ClusterVersion, and a command of oc adm upgrade about it.
func drawnCluster(seed uint64) (*cvo.ClusterVersion, string) {
	r := rand.New(rand.NewPCG(seed, 46))
	one := func(n int) bool { return r.IntN(n) == 0 }
	cv := &cvo.ClusterVersion{}
	cv.Name = "version"
	cv.Spec.Channel = []string{"stable-4.18", "stable-4.18", "eus-4.18", ""}[r.IntN(4)]
	all := []string{"stable-4.18", "eus-4.18", "stable-4.19"}
	release := func(version string) cvo.Release {
		return cvo.Release{Version: version, Image: "quay.io/r@sha256:" + fmt.Sprintf("%064x", len(version)*1000+r.IntN(1000)), Channels: all}
	}
	cv.Status.Desired = release("4.18.1")
	if one(5) {
		cv.Status.Desired.Channels = nil
	}
	cv.Status.AvailableUpdates = []cvo.Release{}
	names := []string{"4.18.5", "4.18.9", "4.19.2", "4.19.7"}
	for i, v := range names {
		if cv.Spec.Channel == "" {
			break // then nothing is offered
		}
		switch r.IntN(4) {
		case 0, 1:
			cv.Status.AvailableUpdates = append(cv.Status.AvailableUpdates, release(v))
		case 2:
			risk := fmt.Sprint("Risk", i)
			c := fairlead.Condition{Type: "Recommended", Status: fairlead.ConditionFalse, Reason: risk, Message: "it breaks https://e/" + risk}
			switch r.IntN(3) {
			case 0:
				c = fairlead.Condition{Type: "Recommended", Status: fairlead.ConditionUnknown, Reason: "EvaluationFailed", Message: "Could not evaluate exposure to update risk " + risk + " (no route)\n  " + risk + " description: it breaks https://e/" + risk}
			case 1:
				c = fairlead.Condition{Type: "Recommended", Status: fairlead.ConditionTrue, Reason: "NotExposedToRisks", Message: "fine"}
			}
			u := cvo.ConditionalUpdate{Release: release(v), Conditions: []fairlead.Condition{c}}
			u.Risks = []graph.Risk{{Name: risk, Message: "it breaks", URL: "https://e/" + risk, MatchingRules: []graph.Rule{{Type: "PromQL", Query: "x"}}}}
			cv.Status.ConditionalUpdates = append(cv.Status.ConditionalUpdates, u)
			if c.Status == fairlead.ConditionTrue { // as the operator does
				cv.Status.AvailableUpdates = append(cv.Status.AvailableUpdates, u.Release)
			}
		}
	}
	for _, kind := range []string{"Invalid", "Failing", "Progressing"} {
		status := fairlead.ConditionFalse
		if one(8) {
			status = fairlead.ConditionTrue
		}
		if !one(6) {
			cv.Status.Conditions = append(cv.Status.Conditions, fairlead.Condition{Type: kind, Status: status, Reason: "R", Message: "m"})
		}
	}
	if one(3) {
		cv.Spec.DesiredUpdate = &cvo.Update{Version: names[r.IntN(4)]}
	}
	switch to := append(names, "4.18.1", "4.18.77")[r.IntN(6)]; r.IntN(8) {
	case 0:
		return cv, "oc adm upgrade channel " + append(all, "stable-4.77", "fast-4.18")[r.IntN(5)]
	case 1:
		return cv, "oc adm upgrade --clear"
	case 2, 3, 4:
		return cv, "oc adm upgrade --allow-not-recommended --to=" + to
	default:
		return cv, "oc adm upgrade --to=" + to
	}
}

// refusedByUs reports whether the checker refuses a command.
func refusedByUs(cv *cvo.ClusterVersion, line string) bool {
	s := &plan.Situation{Cluster: cv, Channels: plan.ReadChannels(cv)}
	s.Moves, s.Risks = plan.ReadUpdates(cv)
	return plan.RunCommand(s, line) != nil
}

// serveCluster is an API server that has one ClusterVersion, which changes are made to.
func serveCluster(cv *cvo.ClusterVersion) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/config.openshift.io/v1/clusterversions/version" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		data, _ := json.Marshal(cv)
		fields := map[string]any{}
		_ = json.Unmarshal(data, &fields)
		fields["apiVersion"], fields["kind"] = "config.openshift.io/v1", "ClusterVersion"
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(fields)
	})
}

// TestOC: the checker of commands refuses what oc itself refuses, and nothing else. What oc
// answered is recorded in testdata/oc.txt, by release; with FAIRLEAD_OC, which names programs
// of oc as RELEASE=PATH,..., they are asked again, about 2,000 clusters in long runs.
func TestOC(t *testing.T) {
	const file = "testdata/oc.txt"
	ask := os.Getenv("FAIRLEAD_OC")
	n := long.N(300, 2_000)
	if ask == "" {
		n = 300
	}
	recorded, err := os.ReadFile(file)
	if err != nil && ask == "" {
		t.Fatal(err)
	}
	answers := map[string]string{} // by release: a digit for each seed, 1 if it refused
	for _, line := range strings.Split(strings.TrimSpace(string(recorded)), "\n") {
		if release, list, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
			answers[release] = list
		}
	}
	for _, x := range strings.Split(ask, ",") {
		if release, path, ok := strings.Cut(x, "="); ok {
			answers[release] = asked(t, path, n)
		}
	}
	refused := 0
	for release, list := range answers {
		for seed := range min(n, len(list)) {
			cv, line := drawnCluster(uint64(seed))
			theirs := list[seed] == '1'
			if theirs {
				refused++
			}
			if ours := refusedByUs(cv, line); ours != theirs {
				text, _ := json.Marshal(cv)
				t.Errorf("oc %s, seed %d: %s: oc refuses: %v, the checker: %v\n%s", release, seed, line, theirs, ours, text)
			}
		}
	}
	if refused == 0 || len(answers) < 2 {
		t.Errorf("%d refused by %d releases: that compares nothing", refused, len(answers))
	}
	t.Logf("%d of %d refused", refused, n*len(answers))
	if ask == "" || t.Failed() {
		return
	}
	text := "# What oc answers for the clusters and commands of TestOC: 1 where it refuses. Written by the test with FAIRLEAD_OC.\n"
	for _, release := range slices.Sorted(func(yield func(string) bool) {
		for r := range answers {
			if !yield(r) {
				return
			}
		}
	}) {
		text += release + " " + answers[release][:min(300, len(answers[release]))] + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// asked returns what a program of oc answers.
func asked(t *testing.T, path string, n int) string {
	var list strings.Builder
	for seed := range n {
		cv, line := drawnCluster(uint64(seed))
		server := httptest.NewServer(serveCluster(cv))
		args := append(strings.Fields(line)[1:], "--server="+server.URL)
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(t.TempDir(), "none"), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		server.Close()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			t.Fatal(err)
		}
		if strings.Contains(string(out), "connect") || strings.Contains(string(out), "unknown flag") {
			t.Fatalf("seed %d: %s: %s", seed, line, out)
		}
		list.WriteString(map[bool]string{true: "1", false: "0"}[err != nil])
	}
	return list.String()
}
