package args_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// shopkeeper is a program with settings, which prints its flags.
func shopkeeper(env map[string]string) args.Program {
	settings := &args.Settings{
		List: []args.Setting{
			{Flag: "shop", Many: true, Example: []string{"a", "b"}, About: "of show: shops"},
			{Flag: "time-zone", Example: []string{"UTC"}, About: "of show: where"},
		},
		Getenv: func(name string) string { return env[name] },
	}
	return (&args.Command{Name: "keeper", Settings: settings, Commands: []*args.Command{
		settings.Command(),
		{Name: "deep", Commands: []*args.Command{{Name: "show", Configured: []string{"shop", "time-zone"}, Run: func(c *args.Call) error {
			shops := c.Words("shop")
			zone := "none"
			c.Flags.Func("time-zone", "", func(s string) error {
				if zone = s; s == "Mars" {
					return fmt.Errorf("there is no zone %q", s)
				}
				return nil
			})
			if err := c.Parse(0, 0); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.Stdout, "%q %s %t", *shops, zone, c.Given("shop"))
			return err
		}}}},
		{Name: "plain", Run: func(c *args.Call) error { return c.Parse(0, 0) }},
	}}).Program("keeper")
}

func TestSettings(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("AppData", home)
	usual, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	usual = filepath.Join(usual, "fairlead", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(usual), 0o755); err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "named.yaml")
	list := string(filepath.ListSeparator)
	for _, c := range []struct {
		name         string
		usual, named string // the files; "" for none
		env          string // NAME=VALUE, separated by spaces
		line         string
		want         string
		status       int
	}{
		{name: "nothing", line: "deep show", want: `[] none false`},
		{name: "the usual file", usual: "# mine\nshop: [a, b]\ntime-zone: UTC\n", line: "deep show", want: `["a" "b"] UTC false`},
		{name: "one of many, and a number", usual: "shop: 7\n", line: "deep show", want: `["7"] none false`},
		{name: "an empty file", usual: "# nothing\n", line: "deep show", want: `[] none false`},
		{name: "a file that is named counts alone", usual: "shop: a\ntime-zone: UTC\n", named: "shop: b\n", env: "FAIRLEAD_CONFIG=NAMED", line: "deep show", want: `["b"] none false`},
		{name: "environment before file", usual: "shop: [a, b]\ntime-zone: UTC\n", env: "FAIRLEAD_SHOP=c" + list + "d", line: "deep show", want: `["c" "d"] UTC false`},
		{name: "a name with a dash", env: "FAIRLEAD_TIME_ZONE=CET", line: "deep show", want: `[] CET false`},
		{name: "flag before both", usual: "shop: [a, b]\ntime-zone: UTC\n", env: "FAIRLEAD_SHOP=c", line: "deep show -shop e", want: `["e"] UTC true`},
		{name: "an empty variable is not set", usual: "shop: a\n", env: "FAIRLEAD_SHOP=", line: "deep show", want: `["a"] none false`},
		{name: "config", usual: "shop: a\n", env: "FAIRLEAD_TIME_ZONE=CET", line: "config", want: "file: USUAL\n-shop a  (USUAL:1:1)\n-time-zone CET  (FAIRLEAD_TIME_ZONE)\n"},

		{name: "unknown key", usual: "shop: a\n\nshopp: b\n", line: "deep show", status: 2, want: "keeper deep show: USUAL:3:1: unknown setting \"shopp\"; did you mean shop?\n"},
		{name: "nothing like it", usual: "{\"x\": 1}\n", line: "config", status: 2, want: "keeper config: USUAL:1:2: unknown setting \"x\"; the keys are shop and time-zone\n"},
		{name: "a wrong kind", usual: "time-zone: [UTC]\n", line: "deep show", status: 2, want: "keeper deep show: USUAL:1:12: time-zone is text, not an array\n"},
		{name: "a wrong element", usual: "shop:\n- a\n- {b: c}\n", line: "deep show", status: 2, want: "keeper deep show: USUAL:3:3: shop is text, or a list of texts, not an object\n"},
		{name: "no keys", usual: "- a\n", line: "deep show", status: 2, want: "keeper deep show: USUAL:1:1: the document is a list, not an object; write fields, such as name: value\n"},
		{name: "two documents", usual: "shop: a\n---\nshop: b\n", line: "deep show", status: 2, want: "keeper deep show: USUAL: it contains more than one document; write all settings in one\n"},
		{name: "a value that the flag refuses", usual: "shop: a\ntime-zone: Mars\n", line: "deep show", status: 2, want: "keeper deep show: USUAL:2:1: -time-zone: there is no zone \"Mars\"\n"},
		{name: "the same of the environment", env: "FAIRLEAD_TIME_ZONE=Mars", line: "deep show", status: 2, want: "keeper deep show: FAIRLEAD_TIME_ZONE: -time-zone: there is no zone \"Mars\"\n"},
		{name: "whoever takes no setting does not read it", usual: "- a\n", line: "plain"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for path, text := range map[string]string{usual: c.usual, named: c.named} {
				if text == "" {
					if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{}
			for _, word := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(word, "=")
				env[name] = strings.ReplaceAll(value, "NAMED", named)
			}
			got, status := output(t, shopkeeper(env), c.line)
			if got = strings.ReplaceAll(got, usual, "USUAL"); got != c.want || status != c.status {
				t.Errorf("exit status %d\n%swant %d\n%s", status, got, c.status, c.want)
			}
		})
	}
	missing := filepath.Join(home, "missing.yaml")
	if got, status := output(t, shopkeeper(map[string]string{"FAIRLEAD_CONFIG": missing}), "deep show"); status != 2 || !strings.Contains(got, "FAIRLEAD_CONFIG: ") || !strings.Contains(got, missing) {
		t.Errorf("a file that is named and missing: exit status %d\n%s", status, got)
	}
	if got, _ := output(t, shopkeeper(nil), "help deep show"); !strings.Contains(got, "FAIRLEAD_SHOP sets -shop and FAIRLEAD_TIME_ZONE sets -time-zone") {
		t.Errorf("the help does not name the variables:\n%s", got)
	}
	if got, _ := output(t, shopkeeper(nil), "help config"); !strings.Contains(got, "\n  shop:\n  - a\n  - b\n  time-zone: UTC\n") {
		t.Errorf("the help has no example:\n%s", got)
	}
}

// output runs a program and returns what it prints, standard error last.
func output(t *testing.T, program args.Program, line string) (string, int) {
	t.Helper()
	var out, errs strings.Builder
	status := program(t.Context(), strings.Fields(line), io.MultiReader(), &out, &errs)
	return out.String() + errs.String(), status
}
