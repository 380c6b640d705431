package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/script"
)

// TestTimetable runs the program as the scripts of testdata say.
func TestTimetable(t *testing.T) { script.Lines(t, run) }

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"rooms 0":                       "line 1: rooms 0: want a number of at least 1",
		"\nrooms x":                     "line 2: rooms x: want a number of at least 1",
		"course a":                      `line 1: "course": want "rooms N", "course NAME TEACHER TIME ..." or "apart COURSE COURSE ..."`,
		"course a T 1\ncourse a T 1":    "line 2: course a is there already",
		"course a T 1\napart a b":       "line 2: apart: there is no course b above",
		"# fine\n\ncourse a T 1 # fine": "<nil>",
	} {
		if _, err := read(strings.NewReader(text)); fmt.Sprint(err) != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
