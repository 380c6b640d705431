package args_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// A program that is called as a plugin of kubectl or oc is told as such, in its usage, its examples, and
// the completion of shells; by any other name it has its own.
func TestPlugin(t *testing.T) {
	for file, name := range map[string]string{
		"/opt/bin/kubectl-fairlead": "kubectl fairlead", "kubectl-fairlead.exe": "kubectl fairlead", "oc-fairlead": "oc fairlead",
		"fairlead": "fairlead", "my-fairlead": "fairlead", "/kubectl-x/other": "fairlead",
	} {
		c := &args.Command{Name: "fairlead", Commands: []*args.Command{{
			Name: "check", About: "check it", Examples: "\t\tfairlead check FILE\n\t\tkubectl get nodes | fairlead check fairlead -",
			Run: func(c *args.Call) error { return c.Parse(1, 1) }, Configured: []string{"graph"},
		}}}
		c.Called(file)
		run := c.WithCompletion()
		call := func(words ...string) string {
			var out bytes.Buffer
			run(t.Context(), words, strings.NewReader(""), &out, &out)
			return out.String()
		}
		help := call("check", "-h")
		for _, want := range []string{"usage: " + name + " check", "\n  " + name + " check FILE\n", "| " + name + " check fairlead -\n", "see " + name + " help config"} {
			if !strings.Contains(help, want) {
				t.Errorf("%s: %q is not in\n%s", file, want, help)
			}
		}
		if got := call("check"); !strings.HasPrefix(got, name+" check: missing argument") {
			t.Errorf("%s: %s", file, got)
		}
		program := strings.ReplaceAll(name, " ", "-")
		if got := call("completion", "bash"); !strings.Contains(got, "_"+program+" "+program+"\n") {
			t.Errorf("%s: %s", file, got)
		}
	}
}
