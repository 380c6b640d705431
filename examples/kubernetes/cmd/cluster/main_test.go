package main

import (
	"bytes"
	"strings"
	"testing"
)

// Invalid arguments are refused before a cluster is contacted.
func TestUsage(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	t.Setenv("HOME", t.TempDir())
	for line, want := range map[string]string{
		"":                                       "cluster: answers questions about a running cluster",
		"status":                                 "which cluster? set -kubeconfig FILE or KUBECONFIG",
		"status -token FILE":                     "-token and -ca need -prometheus",
		"status -prometheus x y":                 "unexpected argument y",
		"status -prometheus ://":                 "-prometheus: ",
		"plan":                                   "name a goal",
		"plan -to 4.20":                          "which cluster?",
		"plan -to 4.20 -faults 3":                "-faults and -o mermaid need -play",
		"plan -to 4.20 -at 2026":                 "write it like 2026-01-02T15:04:05Z",
		"plan -to 4.20 -at 2026-01-02T15:04:05Z": "a running cluster is read as it is now",
		"plan -to 4.20 -kubeconfig x":            "no such file",
	} {
		var out, problems bytes.Buffer
		if code := tool().Program("cluster")(t.Context(), strings.Fields(line), nil, &out, &problems); code != 2 || !strings.Contains(problems.String(), want) {
			t.Errorf("cluster %s: %d, %s", line, code, problems.String())
		}
	}
}
