package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// output runs the program.
func output(t *testing.T, line ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = tool().WithCompletion()(t.Context(), line, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), status
}

// each calls do with every command and the words that call it.
func each(words []string, c *args.Command, do func(words []string, c *args.Command)) {
	for _, sub := range c.Commands {
		line := append(words[:len(words):len(words)], sub.Name)
		do(line, sub)
		each(line, sub, do)
	}
}

// Every command has its own help, which is the same however it is requested, and lists
// every flag of the command.
func TestHelp(t *testing.T) {
	n := 0
	each(nil, tool(), func(words []string, c *args.Command) {
		n++
		name := "fairlead " + strings.Join(words, " ")
		first, errs, status := output(t, append([]string{"help"}, words...)...)
		if status != args.StatusFine || errs != "" || !strings.Contains(first, name) || c.About == "" {
			t.Errorf("help %s: exit status %d\n%s%s", name, status, first, errs)
		}
		for _, flag := range []string{"-h", "--help"} {
			if text, _, status := output(t, append(words[:len(words):len(words)], flag)...); text != first || status != args.StatusFine {
				t.Errorf("%s %s: exit status %d, or output that differs from help:\n%s", name, flag, status, text)
			}
		}
		if len(c.Commands) > 0 {
			return
		}
		all, _, _ := output(t, append(append([]string{"__complete"}, words...), "-")...)
		above, _, _ := output(t, "help", words[0]) // describes what its commands share
		for _, flag := range strings.Fields(all) {
			if !strings.Contains(first+above, flag) {
				t.Errorf("%s: its help does not mention %s", name, flag)
			}
		}
	})
	if n < 30 {
		t.Errorf("only %d commands were looked at", n)
	}
}

// The settings can set each flag that a command says they can, and each setting is a flag
// of some command.
func TestSettings(t *testing.T) {
	used := map[string]bool{}
	each(nil, tool(), func(words []string, c *args.Command) {
		flags, _, _ := output(t, append(append([]string{"__complete"}, words...), "-")...)
		for _, flag := range c.Configured {
			used[flag] = true
			if !slices.Contains(strings.Fields(flags), "-"+flag) {
				t.Errorf("%s has no flag -%s", words, flag)
			}
		}
	})
	for _, s := range tool().Settings.List {
		if !used[s.Flag] {
			t.Errorf("no command takes -%s of the settings", s.Flag)
		}
		delete(used, s.Flag)
	}
	if len(used) > 0 {
		t.Errorf("these are not in the settings: %v", used)
	}
	variables := map[string]string{"FAIRLEAD_CONFIG": os.DevNull, "FAIRLEAD_CATALOG": "shop=" + filepath.Join("resolve", "testdata", "shop"), "FAIRLEAD_GLOBAL": "elsewhere"}
	program := tool()
	program.Settings.Getenv = func(name string) string { return variables[name] }
	var out, errs bytes.Buffer
	if status := program.WithCompletion()(t.Context(), []string{"resolve", "shop"}, strings.NewReader(""), &out, &errs); status != 0 || !strings.Contains(out.String(), "shop.v") {
		t.Errorf("exit status %d\n%s%s", status, &out, &errs)
	}
}

// Requested help goes to standard output, errors to standard error.
func TestBadCalls(t *testing.T) {
	for line, want := range map[string]struct {
		status int
		text   string
	}{
		"":                        {2, "usage"},
		"help":                    {0, "resolve"},
		"--help":                  {0, "resolve"},
		"fetch":                   {2, `unknown command "fetch"`},
		"help fetch":              {2, `unknown command "fetch"`},
		"catlog validate":         {2, `did you mean catalog?`},
		"machine see":             {2, `unknown command "see"`},
		"catalog lint PATH":       {2, `did you mean validate?`}, // and not list, which is nearer
		"catalog verify PATH":     {2, `did you mean validate?`},
		"catalog check PATH":      {2, `did you mean validate?`},
		"taints check":            {2, `did you mean lint?`},
		"catalog ls PATH":         {2, `did you mean list?`},
		"catalog show PATH":       {2, `did you mean list?`},
		"update show FILE":        {2, `did you mean graph?`},
		"catalog visualize PATH":  {2, `did you mean graph?`},
		"update mermaid FILE":     {2, `did you mean graph?`},
		"catalog rm PATH":         {2, `did you mean remove?`},
		"taints verify":           {2, `unknown command "verify" (`}, // taints have no validate
		"catalog validate":        {2, "missing argument PATH"},
		"catalog validate a b":    {2, "unexpected argument b"},
		"plan go.mod main.go":     {2, "unexpected argument main.go: give one file, or a directory that contains them all"},
		"drain go.mod -at-once x": {2, "invalid value \"x\" for flag -at-once: write a whole number"},
		"fleet . -to 4 -soak day": {2, "invalid value \"day\" for flag -soak: write a time with its unit, such as 30s, 5m or 2h"},
		"update graph -colour x":  {2, "-colour"},
		"resolve etcd":            {2, "no -catalog"},
		"completion csh":          {2, `no completion for "csh"`},
		"version -o json":         {0, `"go": "go1.`},
	} {
		out, errs, status := output(t, strings.Fields(line)...)
		if status != want.status || line != "" && !strings.Contains(out+errs, want.text) {
			t.Errorf("%q: exit status %d\n%s%s", line, status, out, errs)
		}
		if (out != "") != (status == 0) || (errs != "") != (status != 0) {
			t.Errorf("%q: exit status %d, standard output %q, standard error %q", line, status, out, errs)
		}
	}
}

// Shells are offered commands, flags, values, and the names of a catalog.
func TestCompletion(t *testing.T) {
	shop := filepath.Join("resolve", "testdata", "shop")
	for _, c := range []struct {
		line []string
		want string
	}{
		{[]string{""}, "diagnose explain resolve operators catalog taints drain machine update plan fleet report changes redact config version completion"},
		{[]string{"ma"}, "machine"},
		{[]string{"machine", "s"}, "simulate"},
		{[]string{"machine", "simulate", "-o", ""}, "text json yaml svg mermaid"},
		{[]string{"machine", "simulate", "-o", "s"}, "svg"},
		{[]string{"drain", "--keep"}, "-keep-local-storage -keep-unmanaged"},
		{[]string{"catalog", "list", "b"}, "bundles"},
		{[]string{"catalog", "path", shop, ""}, "database shop"},
		{[]string{"catalog", "path", shop, "shop", "shop.v2"}, "shop.v2.0.0"},
		{[]string{"catalog", "path", "nowhere", ""}, ""},
		{[]string{"nothing", "x"}, ""},
		{[]string{"completion", ""}, "bash fish kubectl zsh"},
	} {
		out, errs, status := output(t, append([]string{"__complete"}, c.line...)...)
		if got := strings.Join(strings.Fields(out), " "); got != c.want || errs != "" || status != 0 {
			t.Errorf("%q: %q, want %q; %s", c.line, got, c.want, errs)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, _, status := output(t, "completion", shell)
		if status != 0 {
			t.Fatal(shell)
		}
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed: its script is not tried", shell)
			continue
		}
		check := exec.Command(shell, "-n")
		check.Stdin = strings.NewReader(script)
		if text, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", shell, err, text, script)
		}
	}
}
