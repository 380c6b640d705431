package update

import (
	"testing"

	"github.com/fairlead/fairlead/examples/internal/script"
)

// TestScripts runs the program with the scripts of testdata.
func TestScripts(t *testing.T) { script.Run(t, "upgrade", Command().Program("fairlead update")) }
