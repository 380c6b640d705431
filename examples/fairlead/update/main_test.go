package update

import (
	"testing"

	"github.com/fairlead/fairlead/examples/internal/script"
)

// TestScripts runs the program as the scripts of testdata say.
func TestScripts(t *testing.T) { script.Run(t, "upgrade", Command().Program("fairlead update")) }
