package browser

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/report"
	"github.com/fairlead/fairlead/internal/samples"
)

// facts are what an update status shows: rows of nodes (name and version), operators that are not well or not
// updated, how many operators are updated, and which releases the update leads from and to.
func facts(status string) (list [][]string) {
	for _, m := range regexp.MustCompile(`(?m)^(\S+) +(?:Outdated|Completed|Progressing|Degraded|Unavailable|Excluded) +\S+ +([\d.]+\S*)`).FindAllStringSubmatch(status, -1) {
		list = append(list, m[1:])
	}
	for _, pattern := range []string{`Message: Cluster Operator (\S+) is`, `(?m)^Updating: +(\S+)$`, `Message: Node (\S+) is`, `Target Version: +(\S+)`, `\(from (?:incomplete )?([\d.]+[^) ]*)\)`} {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(status, -1) {
			list = append(list, m[1:])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^(\S+) +\S+ +\d+% \((\d+/\d+)\)`).FindAllStringSubmatch(status, -1) {
		list = append(list, m[1:])
	}
	return list
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// What oc adm upgrade status shows of the recorded clusters is on the page.
func TestRecordedFacts(t *testing.T) {
	dir := samples.Data(t, "updates", "status")
	outputs, err := filepath.Glob(filepath.Join(dir, "*.detailed-output"))
	if err != nil || len(outputs) == 0 {
		t.Skip("no clusters are recorded", err)
	}
	count := 0
	for _, output := range outputs {
		status, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		prefix := strings.TrimSuffix(output, ".detailed-output")
		var files []string
		for _, kind := range []string{"cv", "co", "mcp", "mc", "node"} {
			if file := prefix + "-" + kind + ".yaml"; exists(file) {
				files = append(files, file)
			}
		}
		r, err := report.Make(t.Context(), readInput(t, files...))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		page := html.UnescapeString(b.String())
		for _, fact := range facts(string(status)) {
			count++
			for _, part := range fact {
				if !strings.Contains(page, part) {
					t.Errorf("%s: %q of %q is not on the page", filepath.Base(prefix), part, fact)
				}
			}
		}
	}
	if t.Logf("%d facts", count); count < 50 {
		t.Errorf("%d facts only", count)
	}
}
