package cvo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// answersVariable is the environment variable that names the program of
// testdata/reference, as built inside of the reference's repository: its answers are
// recorded again then.
const answersVariable = "FAIRLEAD_ANSWERS"

// preconditionAnswers are the recorded answers to the situations of seed 1.
const preconditionAnswers = "testdata/reference/preconditions.txt"

// asked is a cluster that is asked to go to a release.
type asked struct {
	cv     *cvo.ClusterVersion
	target cvo.Release
}

// newAsked makes a situation of which each part may be odd.
func newAsked(r *rand.Rand) asked {
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	oneIn := func(n int) bool { return r.IntN(n) == 0 }
	version := func() string {
		if oneIn(40) {
			return one("four", "4.18", "v4.18.0", "")
		}
		return one("4.17.9", "4.18.0", "4.18.3", "4.18.3", "4.18.4", "4.18.4-rc.1", "4.18.4+build", "4.19.0", "4.19.1", "4.20.2", "5.0.0", "5.1.0", "3.30.1")
	}
	image := func(version string) string { return "image-" + version + one("", "", "", "-multi") }
	state := func() cvo.HistoryState {
		if oneIn(3) {
			return cvo.Partial
		}
		return cvo.Completed
	}
	cv := &cvo.ClusterVersion{}
	cv.Name, cv.Spec.Channel = "version", one("", "stable", "stable")
	v := version()
	cv.Status.Desired = cvo.Release{Version: v, Image: image(v)}
	if !oneIn(20) {
		cv.Status.History = []cvo.History{{State: state(), Version: v, Image: cv.Status.Desired.Image}}
		for range r.IntN(4) {
			v := version()
			cv.Status.History = append(cv.Status.History, cvo.History{State: state(), Version: v, Image: image(v)})
		}
	}
	is := func(kind, status string) {
		if status != "" {
			cv.Status.Conditions = append(cv.Status.Conditions, cvo.Condition{Type: kind, Status: cvo.ConditionStatus(status), Reason: "Because", Message: "of something"})
		}
	}
	is("Upgradeable", one("", "True", "False", "False", "Unknown"))
	is("RetrievedUpdates", one("", "True", "False", "Unknown"))
	if h := cv.Status.History; len(h) > 0 && h[0].State == cvo.Partial {
		is("Progressing", "True")
	} else {
		is("Progressing", "False")
	}
	if oneIn(4) {
		cv.Spec.Overrides = []payload.Override{{Kind: "Deployment", Name: "a", Unmanaged: oneIn(2)}}
	}
	to := version()
	if h := cv.Status.History; len(h) > 1 && oneIn(3) {
		to = h[1].Version
	}
	target := cvo.Release{Version: to, Image: image(to)}
	if oneIn(8) {
		target.Image = ""
	}
	listed := cvo.Release{Version: to, Image: image(to)}
	if oneIn(2) {
		cv.Status.AvailableUpdates = []cvo.Release{listed}
	}
	if oneIn(2) {
		c := cvo.ConditionalUpdate{Release: listed}
		if status := one("True", "False", "False", "Unknown", ""); status != "" {
			c.Conditions = []cvo.Condition{{Type: "Recommended", Status: cvo.ConditionStatus(status), Reason: "ARisk", Message: "it breaks"}}
		}
		cv.Status.ConditionalUpdates = []cvo.ConditionalUpdate{c}
	}
	return asked{cv, target}
}

// newestRules are those of the reference as it was asked.
func newestRules() cvo.Rules {
	list := cvo.Branches()
	return list[len(list)-1]
}

// answer is what our preconditions say, as the reference's are written.
func (a asked) answer() []string {
	var words []string
	for _, p := range cvo.PreconditionsBy(newestRules(), a.cv, a.target) {
		word := strings.TrimPrefix(p.Name, "ClusterVersion") + ":" + p.Reason
		if p.Warning {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return words
}

// differently makes of the reference's answer ours, where docs/compatibility/cvo.md lists
// that they differ, and names the rows.
func (a asked) differently(answer []string) (ours, rows []string) {
	ours = slices.Clone(answer)
	desired, target := a.cv.Status.Desired, a.target
	drop := func(check, row string) {
		n := len(ours)
		if ours = slices.DeleteFunc(ours, func(w string) bool { return strings.HasPrefix(w, check) }); len(ours) < n && row != "" {
			rows = append(rows, row)
		}
	}
	low := slices.Contains(ours, "Rollback:LowDesiredVersion")
	if low {
		drop("GiantHop:MultipleMinorVersionsUpdate", "back over a major version, to a higher minor one")
	}
	// The reference does not know images: it goes back to another image of the previous version.
	if i := slices.IndexFunc(a.cv.Status.History, func(h cvo.History) bool { return h.Version != desired.Version || h.Image != desired.Image }); i >= 0 && !low &&
		slices.Contains(a.answer(), "Rollback:LowDesiredVersion") && target.Image != "" && target.Image != a.cv.Status.History[i].Image {
		ours = slices.Insert(ours, 0, "Rollback:LowDesiredVersion")
		rows = append(rows, "back to another image of the previous version")
	}
	switch {
	case target.Image == desired.Image:
		drop("[Recommended", "the image that runs")
	case target.Image != "" && !slices.ContainsFunc(a.cv.Status.AvailableUpdates, func(r cvo.Release) bool { return r.Image == target.Image }) &&
		!slices.ContainsFunc(a.cv.Status.ConditionalUpdates, func(c cvo.ConditionalUpdate) bool { return c.Release.Image == target.Image }) &&
		len(a.cv.Status.AvailableUpdates)+len(a.cv.Status.ConditionalUpdates) > 0:
		drop("[Recommended", "")
		reason := "UnknownUpdate"
		if a.cv.Spec.Channel == "" {
			reason = "NoChannel"
		}
		ours = append(ours, "[RecommendedUpdate:"+reason+"]")
		rows = append(rows, "an update that is listed with another image")
	}
	return ours, rows
}

// TestPreconditionsBesideReference puts 20,000 random situations before our
// preconditions. What the cluster-version operator's own code said of them (commit
// 6e719331fb58) is recorded.
func TestPreconditionsBesideReference(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(1, 1))
	list := make([]asked, n)
	for i := range list {
		list[i] = newAsked(r)
	}
	if program := os.Getenv(answersVariable); program != "" {
		record(t, program, list)
	}
	recorded := readAnswers(t, n)
	differ, same, kinds := map[string]int{}, 0, map[string]int{}
	for i, a := range list {
		kinds[recorded[i]]++
		theirs := strings.Fields(recorded[i])
		want, rows := a.differently(theirs)
		for _, row := range rows {
			differ[row]++
		}
		if got := a.answer(); !slices.Equal(got, want) {
			text, err := json.Marshal(a.cv)
			t.Fatalf("situation %d, to %s %s: %v, the reference: %v\n%s %v", i, a.target.Version, a.target.Image, got, theirs, text, err)
		}
		if len(rows) == 0 {
			same++
		}
	}
	t.Logf("%d situations, %d kinds of answers, %d the same, others: %v", n, len(kinds), same, differ)
	if len(differ) != 4 || same < n/2 {
		t.Errorf("%d are the same, the others differ by %v", same, differ)
	}
}

// record asks the reference, and writes its answers down: each once, and then by their
// numbers, two letters for each situation.
func record(t *testing.T, program string, list []asked) {
	t.Helper()
	var in bytes.Buffer
	for _, a := range list {
		if err := json.NewEncoder(&in).Encode(map[string]any{"cluster": a.cv, "target": a.target.Version}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "preconditions")
	cmd.Stdin = &in
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	var codes, out strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		k := slices.Index(kinds, line)
		if k < 0 {
			k = len(kinds)
			kinds = append(kinds, line)
		}
		codes.WriteString(letters(k))
		if i%60 == 59 {
			codes.WriteByte('\n')
		}
	}
	fmt.Fprint(&out, "# What openshift/cluster-version-operator at 6e719331fb58 says of the situations of TestPreconditionsBesideReference; see main.go.\n")
	for k, answer := range kinds {
		fmt.Fprintln(&out, strings.TrimSpace(letters(k)+" "+answer))
	}
	fmt.Fprintf(&out, "\n%s\n", strings.TrimSpace(codes.String()))
	if err := os.WriteFile(preconditionAnswers, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// letters writes a number below 676 as two letters.
func letters(k int) string { return string([]byte{byte('a' + k/26), byte('a' + k%26)}) }

// readAnswers reads what record has written.
func readAnswers(t *testing.T, n int) []string {
	t.Helper()
	text, err := os.ReadFile(preconditionAnswers)
	if err != nil {
		t.Fatal(err)
	}
	head, codes, _ := strings.Cut(string(text), "\n\n")
	kinds := map[string]string{}
	for _, line := range strings.Split(head, "\n")[1:] {
		code, answer, _ := strings.Cut(line, " ")
		kinds[code] = answer
	}
	codes = strings.ReplaceAll(codes, "\n", "")
	if len(codes) != 2*n {
		t.Fatalf("%d answers are recorded, not %d", len(codes)/2, n)
	}
	list := make([]string, n)
	for i := range list {
		answer, ok := kinds[codes[2*i:2*i+2]]
		if !ok {
			t.Fatalf("there is no answer %s", codes[2*i:2*i+2])
		}
		list[i] = answer
	}
	return list
}
