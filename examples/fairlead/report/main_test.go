package report

import (
	"testing"

	"github.com/fairlead/fairlead/examples/internal/script"
)

// TestScripts runs the verb as the scripts of testdata say.
func TestScripts(t *testing.T) { script.Run(t, "report", Command().Program("fairlead report")) }
