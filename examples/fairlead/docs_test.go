package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
)

var rewrite = flag.Bool("update", false, "write the pages of docs/tool")

// pageOf returns the page of a verb: its help, and that of all its commands.
func pageOf(t *testing.T, verb *args.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fairlead %s\n\n<!-- generated from the help by go test ./examples/fairlead -run Docs -update -->\n\n", verb.Name)
	tell := func(words []string) {
		text, _, _ := output(t, append([]string{"help"}, words...)...)
		if len(words) > 1 {
			fmt.Fprintf(&b, "\n## %s\n\n", strings.Join(words, " "))
		}
		b.WriteString("```\n" + strings.TrimRight(text, "\n") + "\n```\n")
	}
	tell([]string{verb.Name})
	each([]string{verb.Name}, verb, func(words []string, c *args.Command) { tell(words) })
	return b.String()
}

// The pages of the verbs in docs/tool match the help.
func TestDocs(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "tool")
	stale, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, verb := range tool().Commands {
		name := filepath.Join(dir, verb.Name+".md")
		known[name] = true
		page := pageOf(t, verb)
		if *rewrite {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != page {
			t.Errorf("%s does not match the help (%v): go test ./examples/fairlead -run Docs -update", name, err)
		}
		index, err := os.ReadFile(filepath.Join(dir, "..", "README.md"))
		if err != nil || !strings.Contains(string(index), "tool/"+verb.Name+".md") {
			t.Errorf("docs/README.md does not name tool/%s.md", verb.Name)
		}
	}
	for _, name := range stale {
		if !known[name] {
			t.Errorf("%s is not the page of a verb", name)
		}
	}
}

// Every command that prints JSON also prints YAML.
func TestYAML(t *testing.T) {
	each(nil, tool(), func(words []string, c *args.Command) {
		if len(c.Commands) > 0 {
			return
		}
		formats, _, _ := output(t, append(append([]string{"__complete"}, words...), "-o", "")...)
		list := strings.Fields(formats)
		has := func(form string) bool { return strings.Contains(" "+strings.Join(list, " ")+" ", " "+form+" ") }
		if has("json") && !has("yaml") {
			t.Errorf("%s: -o is one of %s", strings.Join(words, " "), list)
		}
	})
	out, errs, status := output(t, "version", "-o", "yaml")
	if status != args.StatusFine || !strings.HasPrefix(out, "version: ") || !strings.Contains(out, "\ngo: go1.") {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
	if out, errs, status = output(t, "taints", "parse", "-o", "yaml", "a=b:NoSchedule", "c=d:NoExecute"); status != args.StatusFine || !strings.Contains(out, "NoExecute") || strings.Contains(out, `"NoExecute",`) {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
}
