package worlds

import (
	"slices"
	"testing"
)

type part struct{ A, B int }

type world struct {
	part
	Part part
	C    []string
	d    int
}

func TestUnset(t *testing.T) {
	if got := Unset[world](); !slices.Equal(got, []string{"A", "B", "C", "Part"}) {
		t.Errorf("of no world: %q", got)
	}
	one, two := &world{part: part{A: 1}, d: 1}, &world{C: []string{}}
	if got := Unset(one, two); !slices.Equal(got, []string{"B", "Part"}) {
		t.Errorf("of two: %q", got)
	}
}
