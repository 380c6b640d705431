package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/script"
)

// TestWhatif runs the program as the scripts of testdata say.
func TestWhatif(t *testing.T) { script.Lines(t, run) }

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"want":                      `line 1: "want" is neither want PACKAGE ... nor PACKAGE-VERSION [needs PACKAGE ...]`,
		"a-1 needs":                 `line 1: "a-1 needs" is neither want PACKAGE ... nor PACKAGE-VERSION [needs PACKAGE ...]`,
		"a needs b":                 `line 1: "a needs b" is neither want PACKAGE ... nor PACKAGE-VERSION [needs PACKAGE ...]`,
		"a-1\na-1":                  "line 2: a-1 is there already",
		"\na-1 needs b":             "line 2: there is no b",
		"want a-2\na-1":             "line 1: there is no a-2",
		"want a # fine\na-1\nb-1\n": "<nil>",
	} {
		if _, err := read(strings.NewReader(text)); fmt.Sprint(err) != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
