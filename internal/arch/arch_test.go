package arch_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/internal/arch"
	"github.com/fairlead/fairlead/internal/golden"
)

// TestModule checks the module against the rules.
func TestModule(t *testing.T) {
	tree, err := arch.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	root := func(m *arch.Module) bool { return m.Path == "go.mod" }
	if len(tree.Go) < 100 || !slices.ContainsFunc(tree.Mods, root) {
		t.Fatalf("read %d Go files and %d modules: this is not the root of the module", len(tree.Go), len(tree.Mods))
	}
	for _, rule := range arch.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			for _, f := range arch.Run(rule, tree) {
				t.Error(f)
			}
		})
	}
}

// TestRules checks each rule on small trees, some that break it and some that
// do not.
func TestRules(t *testing.T) {
	rules, fired := map[string]arch.Rule{}, map[string]bool{}
	for _, r := range arch.Rules() {
		rules[r.Name] = r
	}
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			rule, ok := rules[c.Name]
			if !ok {
				t.Fatalf("%s: no rule is called %s", c.Pos, c.Name)
			}
			tree, err := arch.Load(files(c))
			if err != nil {
				return err.Error()
			}
			found := arch.Run(rule, tree)
			if len(found) == 0 {
				return "holds"
			}
			fired[c.Name] = true
			var out strings.Builder
			for _, f := range found {
				out.WriteString(f.String() + "\n")
			}
			return out.String()
		}
	})
	for name := range rules {
		if !fired[name] && !t.Failed() {
			t.Errorf("no script breaks the rule %s: nothing shows that it works", name)
		}
	}
}

// files reads the input of a script command: "-- path --" begins a file, and
// "repeat N line" stands for N such lines.
func files(c *golden.Command) fstest.MapFS {
	fsys := fstest.MapFS{}
	var open *fstest.MapFile
	for line := range strings.Lines(c.Input) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			open = &fstest.MapFile{}
			fsys[strings.TrimSuffix(name, " --\n")] = open
			continue
		}
		count := 1
		if words := strings.SplitN(line, " ", 3); words[0] == "repeat" {
			count, line = atoi(words[1]), words[2]
		}
		open.Data = append(open.Data, strings.Repeat(line, count)...)
	}
	return fsys
}

func atoi(digits string) int {
	n := 0
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return n
}
