package explain_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// TestViewOfHostileNames checks that neither a name nor a message begins a line of the text.
func TestViewOfHostileNames(t *testing.T) {
	const name = "x\nFORGED no problem was found\n"
	v := &explain.View{
		Kind: explain.KindSubscription, Namespace: name, Name: name, Phase: name, Next: name, Notes: []string{name},
		Waits: []explain.Wait{{Block: fairlead.Block{Reason: name, Message: name, Owner: name, Unblock: name}, Commands: []string{name}}},
	}
	if got := v.String(); strings.Contains(got, "\nFORGED") || strings.Count(got, "\n") != 5 {
		t.Errorf("a name begins a line:\n%s", got)
	}
}
