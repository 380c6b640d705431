package fleet

import (
	"testing"

	"github.com/fairlead/fairlead/examples/internal/script"
)

// TestScripts runs the verb with the scripts of testdata.
func TestScripts(t *testing.T) { script.Run(t, "fleet", Command().Program("fairlead fleet")) }
