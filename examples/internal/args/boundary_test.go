package args_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
)

// say runs a program that writes texts, one by one, to both outputs; -o chooses the form.
func say(t *testing.T, terminal bool, form string, texts ...string) (out, errs string) {
	t.Helper()
	o, e := &screen{terminal: terminal}, &screen{}
	(&args.Command{Name: "say", Run: func(c *args.Call) error {
		c.Choice("o", "text", "json", "markdown")
		if err := c.Parse(0, 0); err != nil {
			return err
		}
		for _, text := range texts {
			io.WriteString(c.Stdout, text)
			io.WriteString(c.Stderr, text)
		}
		return nil
	}}).Program("say")(t.Context(), []string{"-o", form}, strings.NewReader(""), o, e)
	return o.String(), e.String()
}

func TestBoundary(t *testing.T) {
	const plain = "one\ntwo: ::x\t##\nGrüße 🙂"
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{plain}, plain},
		{[]string{""}, ""},
		{[]string{"a\x1b[31mb\r\n"}, "a⟨U+001B⟩[31mb⟨U+000D⟩\n"},
		{[]string{"\u009b2J\x9b2J\u202e\u2028"}, "⟨U+009B⟩2J�2J⟨U+202E⟩⟨U+2028⟩"},
		{[]string{"\xc2", "\x9b", "x\n"}, "⟨U+009B⟩x\n"}, // a character in two parts
		{[]string{"a\n::add-mask::x\n  ::b\n\u00a0::c\n"}, "a\n⟨U+003A⟩:add-mask::x\n  ⟨U+003A⟩:b\n\u00a0⟨U+003A⟩:c\n"},
		{[]string{" ", ":", ":set-env::\n"}, " ⟨U+003A⟩:set-env::\n"},
		{[]string{"a #", "#[error]b ##vso[task.x] ##TeamCity[y]"}, "a ⟨U+0023⟩#[error]b ⟨U+0023⟩#vso[task.x] ⟨U+0023⟩#TeamCity[y]"},
	} {
		for _, form := range []string{"text", "markdown"} {
			for _, terminal := range []bool{false, true} {
				if out, errs := say(t, terminal, form, c.texts...); out != c.want || errs != c.want {
					t.Errorf("%q as %s, terminal %t:\n%q\n%q, want\n%q", c.texts, form, terminal, out, errs, c.want)
				}
			}
		}
		whole := strings.Join(c.texts, "")
		if out, errs := say(t, false, "json", c.texts...); out != whole || errs != c.want {
			t.Errorf("%q as JSON: %q\n%q", c.texts, out, errs)
		}
		if out, _ := say(t, true, "json", c.texts...); strings.ContainsAny(out, "\x1b\r\u009b\u202e") {
			t.Errorf("%q as JSON on a terminal: %q", c.texts, out)
		}
	}
}

// Errors and help pass the boundary too, and so does the name of an unknown command.
func TestBoundaryOfErrors(t *testing.T) {
	program := (&args.Command{Name: "p", Commands: []*args.Command{
		{Name: "fail", Run: func(c *args.Call) error { return fmt.Errorf("no\x1b[2J\n::stop::") }},
		{Name: "warn", Run: func(c *args.Call) error { c.Warn("%s", "w\x1b\n##[x]"); return nil }},
		{Name: "usage", Run: func(c *args.Call) error { return c.Parse(0, 0) }},
	}}).Program("p")
	for _, line := range [][]string{{"fail"}, {"warn"}, {"usage", "a\x1b\n::b"}, {"x\x1b[2J\n::y"}, {"usage", "-\x1b\n::b"}} {
		out, errs := &screen{}, &screen{}
		program(t.Context(), line, strings.NewReader(""), out, errs)
		if text := out.String() + errs.String(); strings.Contains(text, "\x1b") || strings.Contains(text, "\n::") || strings.Contains(text, "##[") || !strings.Contains(text, "U+001B") && !strings.Contains(text, `\x1b`) {
			t.Errorf("%q: %q", line, text)
		}
	}
}

// What shells are offered can be inserted as it is.
func TestCompletionOfNames(t *testing.T) {
	c := &args.Command{Name: "p", Run: func(c *args.Call) error { return c.Parse(0, 1) }, Complete: func(*args.Call) []string {
		return []string{"a", "$(touch x)", "-rf", "b\nc", "d e", "\x1b[2J", "`id`", "etcd.v1.0.0+b", "'", "\u202e", ""}
	}}
	if got := fmt.Sprint(c.Candidates(t.Context(), nil)); got != "[a etcd.v1.0.0+b]" {
		t.Error(got)
	}
}
