package reading_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/reading"
)

// fake is a kubectl of a cluster in which this account may not list budgets, and jobs of one namespace
// only, and which has neither machines nor an update.
const fake = `#!/bin/sh
printf '%s\n' "$*" >> "$CALLS"
case "$1 $2" in
"config view") printf '{"current-context":"lab","contexts":[{"name":"lab","context":{"cluster":"farm","user":"ann","namespace":"shop"}}]}' ;;
"api-resources --verbs=list") printf 'nodes\npods\npoddisruptionbudgets.policy\njobs.batch\nsecrets\n' ;;
"get nodes") printf '{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}]}' ;;
"get pods,poddisruptionbudgets.policy,jobs.batch")
  printf '{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop"}}]}'
  printf 'Error from server (Forbidden): poddisruptionbudgets.policy is forbidden: User "ann" cannot list resource "poddisruptionbudgets" in API group "policy" at the cluster scope\n' >&2
  printf 'Error from server (Forbidden): jobs.batch is forbidden: User "ann" cannot list resource "jobs" in API group "batch" at the cluster scope\n' >&2
  exit 1 ;;
"get poddisruptionbudgets.policy,jobs.batch")
  printf '{"kind":"List","apiVersion":"v1","items":[]}'
  printf 'Error from server (Forbidden): poddisruptionbudgets.policy is forbidden: User "ann" cannot list resource "poddisruptionbudgets" in API group "policy" in the namespace "shop"\n' >&2
  exit 1 ;;
*) printf 'Error: unexpected call\n' >&2; exit 1 ;;
esac
`

func call(t *testing.T, words ...string) (*snapshot.Snapshot, string, error) {
	t.Helper()
	var problems bytes.Buffer
	c := &args.Call{Context: t.Context(), Args: words, Flags: flag.NewFlagSet("", flag.ContinueOnError), Stdin: strings.NewReader(""), Stderr: &problems}
	from := reading.Declare(c)
	if err := c.Parse(0, 1); err != nil {
		t.Fatal(err)
	}
	s, err := from.Read(c.Arg(0))
	return s, problems.String(), err
}

// A running cluster is asked through the kubectl of the PATH, for lists and nothing else; what it
// refuses is unknown, with the permission that helps, and what the cluster does not have is not
// asked for.
func TestRunning(t *testing.T) {
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CALLS", calls)
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	s, problems, err := call(t, "-context", "lab")
	if err != nil {
		t.Fatal(err)
	}
	if _, is := s.Pods.Get("bank", "web"); is != snapshot.Absent || len(s.Nodes.Items) != 1 {
		t.Errorf("another pod: %v; %d nodes", is, len(s.Nodes.Items))
	}
	if s.Budgets.Known() != nil || len(s.Budgets.Scope.Gaps) != 1 || s.Budgets.Scope.Gaps[0].Permission != "list poddisruptionbudgets.policy" {
		t.Errorf("%+v", s.Budgets.Scope)
	}
	if s.Machines.Known() != nil || s.Clock.Source != "the clock of this machine" {
		t.Errorf("%+v %+v", s.Machines.Scope, s.Clock)
	}
	_, in := s.Jobs.Get("shop", "a")
	if _, out := s.Jobs.Get("bank", "a"); in != snapshot.Absent || out != snapshot.Unknown {
		t.Errorf("a job in the namespace: %v, outside of it: %v", in, out)
	}
	for _, want := range []string{
		"the cluster farm (context lab) as ann", "poddisruptionbudgets.policy are unknown: the server refuses it to this account; it takes the permission to list them in the whole cluster",
		"jobs.batch outside of namespace shop are unknown",
	} {
		if !strings.Contains(problems, want) {
			t.Errorf("%q lacks %q", problems, want)
		}
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != 5 {
		t.Errorf("%d calls:\n%s", n, text)
	}
	for line := range strings.Lines(string(text)) {
		verb, _, _ := strings.Cut(line, " ")
		if verb != "get" && verb != "api-resources" && verb != "config" || strings.Contains(line, "secrets") || !strings.Contains(line, "--context=lab") {
			t.Errorf("it calls kubectl %s", line)
		}
	}
}

// Without a file, a terminal or a flag standard input is read, and nothing on it is an error.
func TestNothing(t *testing.T) {
	if _, _, err := call(t); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Error(err)
	}
	if _, _, err := call(t, "-context", "lab", "file.yaml"); err == nil {
		t.Error("a file and a running cluster are read at once")
	}
}

// An account that may list nothing is told so, with the namespace that was looked in, instead of that
// the input is empty; a cluster that lacks what a call is about is named.
func TestWithheld(t *testing.T) {
	dir := t.TempDir()
	refuses := `#!/bin/sh
case "$1 $2" in
"config view") printf '{"current-context":"lab","contexts":[{"name":"lab","context":{"cluster":"farm","user":"ann"}}]}' ;;
"api-resources --verbs=list") printf 'nodes\njobs.batch\n' ;;
*) printf '{"kind":"List","apiVersion":"v1","items":[]}'
  printf 'Error from server (Forbidden): nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope\n' >&2
  printf 'Error from server (Forbidden): jobs.batch is forbidden: User "ann" cannot list resource "jobs" in API group "batch" in the namespace "default"\n' >&2
  exit 1 ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(refuses), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	_, problems, err := call(t, "-context", "lab")
	if err == nil || !strings.Contains(err.Error(), "cluster farm: this account may list nothing") || !strings.Contains(err.Error(), "namespace default") || strings.Contains(err.Error(), "standard input") {
		t.Error(err)
	}
	if !strings.Contains(problems, "nodes and jobs.batch are unknown") {
		t.Error(problems)
	}
}
