package long_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/long"
)

func TestSwitch(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "0": false, "no": false, "Off": false, "FALSE": false,
		"1": true, "yes": true, "true": true, "2h": true,
	} {
		t.Setenv(long.Variable, value)
		if got := long.Enabled(); got != want {
			t.Errorf("%s=%q: Enabled() = %v, want %v", long.Variable, value, got, want)
		}
		size := 3
		if want {
			size = 500
		}
		if got := long.N(3, 500); got != size {
			t.Errorf("%s=%q: N(3, 500) = %d, want %d", long.Variable, value, got, size)
		}
	}
}
