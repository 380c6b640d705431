package check_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
)

// Of many warnings of one code the first are listed, and the others counted; errors are
// all listed.
func TestMostWarnings(t *testing.T) {
	var findings catalog.Diagnostics
	for i, code := range []catalog.Code{check.LintImageTag, check.LintAPI, check.LintImageTag, check.LintImageTag, check.LintImageTag} {
		findings = append(findings, &catalog.Diagnostic{Code: code, Subject: string(rune('a' + i)), Message: "m"})
	}
	r := new(check.Report).WithWarnings(findings)
	for most, want := range map[int]string{0: "image-tag 4, and 0", 1: "image-tag 1, and 1", 3: "image-tag 3, and 1", 4: "image-tag 4, and 0"} {
		var b strings.Builder
		if err := r.WriteText(&b, most); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		more := strings.Count(text, "and ")
		listed := strings.Count(text, string(check.LintImageTag)) - more
		if got := "image-tag " + string(rune('0'+listed)) + ", and " + string(rune('0'+more)); got != want || !strings.Contains(text, string(check.LintAPI)) || !strings.Contains(text, "5 warnings") {
			t.Errorf("most %d: %s, want %s:\n%s", most, got, want, text)
		}
		if most == 1 && !strings.Contains(text, "and 3 more findings [warning: image-tag]\n") {
			t.Errorf("what is left out is not counted:\n%s", text)
		}
	}
}
