package taints

import (
	"strings"
	"testing"
)

// TestReportRows: the answers agree, and the table has its lines.
func TestReportRows(t *testing.T) {
	var out strings.Builder
	if err := reportRows(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 6 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
	t.Log("\n" + out.String())
}
