package plan

import (
	"testing"

	"github.com/fairlead/fairlead/examples/internal/script"
)

// TestScripts runs the verb as the scripts of testdata say.
func TestScripts(t *testing.T) { script.Run(t, "plan", Command().Program("fairlead plan")) }
