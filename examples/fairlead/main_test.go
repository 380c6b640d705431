package main

import (
	"strings"
	"testing"
)

// The verbs are found by their names, and each has help of its own.
func TestVerbs(t *testing.T) {
	for _, v := range verbs {
		for _, words := range [][]string{{"help", v.name}, {v.name, "-h"}, {v.name, "--help"}} {
			var out, errs strings.Builder
			if status := run(t.Context(), words, strings.NewReader(""), &out, &errs); status != 0 || !strings.Contains(out.String(), "fairlead "+v.name) || errs.Len() > 0 {
				t.Errorf("%q: exit status %d\n%s%s", words, status, out.String(), errs.String())
			}
		}
	}
	for line, want := range map[string]struct {
		status int
		text   string
	}{
		"":            {2, "usage: fairlead VERB"},
		"help":        {0, "usage: fairlead VERB"},
		"--help":      {0, "usage: fairlead VERB"},
		"fetch":       {2, `there is no verb "fetch"`},
		"help fetch":  {2, `there is no verb "fetch"`},
		"machine see": {2, `there is no command "see"`},
	} {
		var out, errs strings.Builder
		status := run(t.Context(), strings.Fields(line), strings.NewReader(""), &out, &errs)
		if status != want.status || !strings.Contains(out.String()+errs.String(), want.text) {
			t.Errorf("%q: exit status %d\n%s%s", line, status, out.String(), errs.String())
		}
		if results := out.Len() > 0; results != (status == 0) {
			t.Errorf("%q: help goes to standard output when asked for, complaints to standard error", line)
		}
	}
}
