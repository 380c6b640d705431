package fairlead_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fairlead/fairlead"
)

// ExampleDiagnostics shows how findings are printed and searched.
func ExampleDiagnostics() {
	found := fairlead.Diagnostics{
		{Pos: fairlead.Position{File: "b.yaml", Line: 3, Column: 7}, Code: "type", Subject: `package "shop"`, Message: "name is a number", Hint: "put it in quotes"},
		{Pos: fairlead.Position{File: "a.yaml"}, Code: "read", Message: "cannot be read"},
		{Pos: fairlead.Position{File: "a.yaml"}, Code: "read", Message: "cannot be read"},
	}
	err := found.Sorted().Err()
	fmt.Println(err)
	var d *fairlead.Diagnostic
	fmt.Println(errors.As(err, &d), d.Pos, d.Code)
	// Output:
	// a.yaml: cannot be read (and 1 more)
	// true a.yaml read
}

func TestPosition(t *testing.T) {
	for want, p := range map[string]fairlead.Position{
		"-": {}, "a:1": {File: "a", Line: 1}, "a:1:2": {File: "a", Line: 1, Column: 2}, "a": {File: "a", Column: 2}, "3:4": {Line: 3, Column: 4},
	} {
		if got := p.String(); got != want {
			t.Errorf("%#v: got %q, want %q", p, got, want)
		}
	}
	low, high := fairlead.Position{File: "a", Line: 2}, fairlead.Position{File: "a", Line: 10}
	if low.Compare(high) >= 0 || high.Compare(low) <= 0 || low.Compare(low) != 0 {
		t.Error("positions are not ordered by line")
	}
}

func TestInputLimitError(t *testing.T) {
	for want, err := range map[string]*fairlead.InputLimitError{
		"limit exceeded: document size in bytes is more than 20":               {What: "document size in bytes", Max: 20},
		"limit exceeded: length of the version in bytes is 300, more than 256": {What: "length of the version in bytes", Size: 300, Max: 256},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
