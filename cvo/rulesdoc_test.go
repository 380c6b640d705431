package cvo_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
)

// rulesTable returns the table of rules by release as Markdown.
func rulesTable() string {
	var b strings.Builder
	b.WriteString("| release | branch | cluster-version-operator | cluster-kube-apiserver-operator | from | overrides prevent | a rollback is checked | a skipped minor version is refused | 5.0 may follow 4 | kubelets may be behind |\n|---|---|---|---|---|---|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, r := range cvo.Branches() {
		overrides := "minor and major updates"
		if r.OverridesBlockAll {
			overrides = "every update"
		}
		var major, minor uint64
		if _, err := fmt.Sscanf(r.Minor, "%d.%d", &major, &minor); err != nil {
			b.WriteString(err.Error())
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s | %s | %s | %s | %d |\n", r.Minor, r.Branch, r.Commit, r.Skew, r.Since, overrides, yes[r.Rollback], yes[r.GiantHop], yes[r.NextMajor], cvo.KubeletSkew(major, minor))
	}
	return b.String()
}

// docs/compatibility/cvo.md has the table of rules by release, written from the rules themselves; go test
// ./cvo -run RulesOfReleases -update writes it.
func TestRulesOfReleases(t *testing.T) {
	const path, begin, end = "../docs/compatibility/cvo.md", "<!-- rules of releases, written from cvo.Branches -->\n", "<!-- end of rules -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q", path, begin)
	}
	want := head + begin + rulesTable() + end + tail
	if want == string(text) {
		return
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the table of rules in %s is not that of cvo.Branches: write it with -update", path)
}
