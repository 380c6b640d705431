package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/words"
)

// TestHostile runs every verb on hostile inputs: what was put in appears in the output as text,
// and does nothing else.
func TestHostile(t *testing.T) {
	stubs := newStubs(t)
	for part := range long.N(1, 100) { // so that a long run can be made in parts
		t.Run(fmt.Sprintf("%02d", part), func(t *testing.T) {
			for seed := range 100 {
				hostileRun(t, stubs, part*100+seed)
			}
		})
	}
	if stubs.calls == 0 {
		t.Error("no command with a hostile name was run")
	}
	t.Logf("%d commands with hostile names were run", stubs.calls)
}

// hostileRun makes an input, and two calls with it; all calls come in turn, so that a short run
// makes each too.
func hostileRun(t *testing.T, stubs *stubs, seed int) {
	calls := strings.Split(strings.TrimSpace(hostileCalls), "\n")
	r := rand.New(rand.NewPCG(uint64(seed), 40))
	p := &poison{r: r, share: []int{10, 30, 100}[r.IntN(3)], all: r.IntN(10) == 0, become: map[string]string{}}
	dir := t.TempDir()
	p.tree(t, dir)
	t.Chdir(dir)
	defer t.Chdir(stubs.home)
	for i := range 2 {
		line := p.words(calls[(seed*2+i)%len(calls)])
		if at := slices.Index(line, "json"); at > 0 && line[at-1] == "-o" && r.IntN(3) == 0 {
			line[at] = "yaml"
		}
		check := &sinks{t: t, p: p, line: line, name: fmt.Sprintf("seed %d: %q", seed, line), stubs: stubs}
		out, errs, status := output(t, line...)
		if status < 0 || status > 2 {
			t.Errorf("%s: exit status %d", check.name, status)
		}
		check.text(errs)
		switch form := form(line); form {
		case "", "text", "opm":
			check.text(out)
		case "markdown":
			check.markdown(out)
		default:
			check.document(form, out, status)
		}
	}
}

// words are the words of a call, with names as they have become.
func (p *poison) words(call string) []string {
	var line []string
	for _, word := range strings.Fields(call) {
		line = append(line, regexp.MustCompile(`\{[^}]*\}`).ReplaceAllStringFunc(word, func(name string) string { return p.text("", strings.Trim(name, "{}")) }))
	}
	return line
}

// form is the form of the output that a call requests, or that its verb has.
func form(line []string) string {
	if i := slices.Index(line, "-o"); i >= 0 {
		return line[i+1]
	}
	name := strings.Join(line[:2], " ")
	if slices.Contains(line, "-fix") {
		return "patch"
	}
	switch name {
	case "catalog release":
		return "markdown"
	case "catalog render", "catalog template", "catalog untemplate", "catalog filter", "catalog merge", "catalog init":
		return "json"
	case "catalog add", "catalog remove", "catalog deprecate", "catalog channel":
		return "patch"
	}
	return ""
}

// sinks judges the output of one call.
type sinks struct {
	t     *testing.T
	p     *poison
	line  []string
	name  string
	stubs *stubs
}

func (s *sinks) errorf(format string, values ...any) {
	s.t.Helper()
	s.t.Errorf(s.name+": "+format, values...)
}

// text judges text for people: nothing controls the terminal, no line begins as somebody else
// wants, no CI job obeys, and every command that is printed does what it seems to do.
func (s *sinks) text(out string) {
	s.t.Helper()
	if i := strings.IndexFunc(out, words.Hidden); i >= 0 || words.Visible(out) != out {
		s.errorf("control characters at %d: %q", i, out[max(0, i-60):min(len(out), i+60)])
	}
	before := ""
	for line := range strings.Lines(out) {
		body := strings.TrimLeftFunc(line, unicode.IsSpace)
		word, _, _ := strings.Cut(body, " ")
		folded := strings.HasPrefix(line, "  ") && utf8.RuneCountInString(before+word) >= page.Width // not broken by the name
		if strings.HasPrefix(body, "FORGED") && !folded {
			s.errorf("a name begins a line: %q after %q", line, before)
		}
		before = line
		if strings.HasPrefix(body, "::") || strings.Contains(line, "##[") || strings.Contains(strings.ToLower(line), "##vso[") {
			s.errorf("a CI job would obey: %q", line)
		}
		for _, at := range regexp.MustCompile(`(?:^|[\s(:])(oc|kubectl|printf|virtctl|curl) `).FindAllStringSubmatchIndex(line, -1) {
			s.stubs.run(s, strings.TrimSpace(line[at[2]:]))
		}
	}
}

// markdown judges text that is shown as Markdown.
func (s *sinks) markdown(out string) {
	s.t.Helper()
	s.text(out)
	for line := range strings.Lines(out) {
		if strings.Contains(line, "# FORGED") && strings.HasPrefix(strings.TrimSpace(line), "#") {
			s.errorf("a heading: %q", line)
		}
	}
}

// document judges output for other programs: it is what it says.
func (s *sinks) document(form, out string, status int) {
	s.t.Helper()
	if out == "" && status != 0 {
		return
	}
	switch form {
	case "sh":
		s.stubs.script(s, out)
	case "github":
		for line := range strings.Lines(out) {
			if !regexp.MustCompile(`^::(?:error|warning|notice) (?:file=[^:,]*,line=\d+,col=\d+,)?title=[a-z0-9-]+::`).MatchString(line) {
				s.errorf("-o github: %q", line)
			}
		}
	case "json", "sarif", "jsonl":
		d := json.NewDecoder(strings.NewReader(out))
		for {
			var v any
			if err := d.Decode(&v); err == io.EOF {
				return
			} else if err != nil {
				s.errorf("-o %s: %v\n%s", form, err, out)
				return
			}
		}
	case "yaml":
		if strings.HasPrefix(out, "- ") { // the reader takes objects
			out = "list:\n" + out
		}
		if _, err := (&poison{r: s.p.r, become: map[string]string{}}).file([]byte(out), "out.yaml"); err != nil {
			s.errorf("-o yaml: %v\n%s", err, out)
		}
	case "svg":
		d := xml.NewDecoder(strings.NewReader(out))
		for {
			token, err := d.Token()
			if err == io.EOF {
				return
			} else if err != nil {
				s.errorf("-o svg: %v", err)
				return
			}
			if e, ok := token.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "img") {
				s.errorf("-o svg has an element %s", e.Name.Local)
			}
		}
	case "html":
		if strings.Contains(out, "<script>FORGED") || strings.Contains(out, "<img src=x") {
			s.errorf("-o html contains markup of a name")
		}
	case "mermaid", "dot":
		if strings.ContainsFunc(out, words.Hidden) {
			s.errorf("-o %s has control characters: %q", form, out)
		}
		for line := range strings.Lines(out) {
			if body := strings.TrimSpace(line); strings.HasPrefix(body, "FORGED") || strings.HasPrefix(body, "click ") && strings.Contains(body, "javascript") {
				s.errorf("-o %s: a name begins a line: %q", form, line)
			}
		}
	}
}

// stubs are programs that record how they are called, in place of those that commands name.
type stubs struct {
	sh, home, path, log, stdin string
	calls                      int // of the stubs, with a hostile argument
}

func newStubs(t *testing.T) *stubs {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh to run commands with")
	}
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := &stubs{sh: sh, home: home, path: t.TempDir()}
	s.stdin = filepath.Join(s.path, "stdin")
	s.log = filepath.Join(s.path, "log")
	for _, name := range []string{"oc", "kubectl", "virtctl", "curl"} {
		script := "#!" + sh + "\nprintf '%s\\0' " + name + " \"$@\" '' >>'" + s.log + "'\n" +
			"case \" $* \" in *' -f - '*) while IFS= read -r line; do printf '%s\\n' \"$line\" >>'" + s.stdin + "'; done;; esac\n"
		if err := os.WriteFile(filepath.Join(s.path, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// What hostile texts call.
	if err := os.WriteFile(filepath.Join(s.path, "touch"), []byte("#!"+sh+"\n: >\"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// run lets a shell run a line that begins with a command: nothing else is called, and what it gets
// are whole names, never as flags. What follows the command in the line may be prose.
func (x *stubs) run(s *sinks, line string) {
	s.t.Helper()
	os.Remove(x.log)
	dir := s.t.TempDir()
	cmd := exec.Command(x.sh, "-c", line)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + x.path, "HOME=" + dir}
	out, _ := cmd.CombinedOutput() // prose after the command fails
	if found, _ := os.ReadDir(dir); len(found) > 0 {
		s.errorf("this command runs something else: %s\n%s", line, out)
	}
	x.judge(s, line)
}

// script lets a shell run a whole script, and answers every question with yes: what it prints is
// judged as the text of a verb is, and what it calls as commands are.
func (x *stubs) script(s *sinks, text string) {
	s.t.Helper()
	os.Remove(x.log)
	dir := s.t.TempDir()
	file := filepath.Join(x.path, "script")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(x.sh, file)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, []string{"PATH=" + x.path, "HOME=" + dir}, strings.NewReader(strings.Repeat("y\n", 1000))
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.errorf("the script fails: %v\n%s\n%s", err, text, out)
	}
	if found, _ := os.ReadDir(dir); len(found) > 0 {
		s.errorf("the script runs something else:\n%s", text)
	}
	x.judge(s, text)
	if shown := string(out); words.Visible(shown) != shown {
		s.errorf("the script prints control characters: %q", shown)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(strings.TrimSpace(line), "FORGED") {
			s.errorf("a name begins a line that the script prints: %q", line)
		}
	}
}

// judge judges what the stubs recorded.
func (x *stubs) judge(s *sinks, line string) {
	s.t.Helper()
	objects, _ := os.ReadFile(x.stdin)
	os.Remove(x.stdin)
	if len(objects) > 0 && (!json.Valid(objects) || bytes.Contains(objects, []byte(`"kind":"Pwned`))) {
		s.errorf("%s creates something else: %s", line, objects)
	}
	log, _ := os.ReadFile(x.log)
	for call := range bytes.SplitSeq(log, []byte("\x00\x00")) {
		if len(call) > 0 {
			s.arguments(line, strings.Split(strings.Trim(string(call), "\x00"), "\x00"))
		}
	}
}

// arguments judges the words that a program got.
func (s *sinks) arguments(line string, got []string) {
	s.t.Helper()
	if strings.Contains(strings.Join(got, " "), "PWNED") {
		s.stubs.calls++
	}
	for i, word := range got {
		if word == "--" {
			break
		}
		value := i > 0 && slices.Contains([]string{"-n", "-p", "-o"}, got[i-1])
		for was, name := range s.p.become {
			if was != name && strings.HasPrefix(name, "-") && name != "-" && strings.HasPrefix(word, words.VisibleLine(name)) && !value {
				s.errorf("a name is a flag: %q of %s", word, line)
			}
		}
	}
}
