package plan

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fairlead/fairlead/examples/internal/script"
)

// TestScripts runs the verb with the scripts of testdata.
func TestScripts(t *testing.T) { script.Run(t, "plan", Command().Program("fairlead plan")) }

// A missing goal is reported before standard input is read.
func TestAsksFirst(t *testing.T) {
	var out strings.Builder
	status := Command().Program("fairlead plan")(t.Context(), []string{"-"}, iotest.ErrReader(io.ErrUnexpectedEOF), io.Discard, &out)
	if status != 2 || !strings.Contains(out.String(), "name a goal") {
		t.Errorf("status %d: %s", status, out.String())
	}
}
