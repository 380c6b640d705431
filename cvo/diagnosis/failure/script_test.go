package failure

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/long"
)

// TestScripts runs testdata/*.txt:
//
//	sign KIND [NAMESPACE/]NAME [type=TYPE] [reason=REASON]   recognises the input's message
//	telling WIDTH                  the clause of the input that says most
//	words                          the sentences and the advice of the table, by code
func TestScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			switch c.Name {
			case "sign":
				return recognised(c)
			case "telling":
				width, err := strconv.Atoi(c.Args[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				return Telling(c.Input, width)
			case "words":
				return tableWords()
			}
			t.Fatalf("%s: no command %s", c.Pos, c.Name)
			return ""
		}
	})
}

// tableWords prints the words of the table.
func tableWords() string {
	var b strings.Builder
	for _, k := range All() {
		fmt.Fprintf(&b, "%s: %s; do: %s\n", k.Code, k.Says, k.Do)
	}
	return b.String()
}

// TestNodeCommands: a command about a node names {on}, or {node} from the message: {name} may be
// that of an operator or a pod that reports what happened on a node.
func TestNodeCommands(t *testing.T) {
	wrong := regexp.MustCompile(`\bnodes?[/ ]\{name\}|nodeName=\{name\}|node-logs \{name\}`)
	rows := table()
	for i := range rows {
		r := &rows[i]
		for _, c := range append(slices.Clone(r.commands), r.plain) {
			if wrong.MatchString(c) {
				t.Errorf("%s: %s", r.code, c)
			}
		}
	}
}

func recognised(c *golden.Command) string {
	s := Sign{Kind: c.Args[0].Key, Name: c.Args[1].Key, Type: c.Value("type"), Reason: c.Value("reason"), Message: strings.TrimSuffix(c.Input, "\n")}
	if ns, name, ok := strings.Cut(s.Name, "/"); ok {
		s.Namespace, s.Name = ns, name
	}
	f := Recognise(&s)
	if f == nil {
		return "unknown"
	}
	var b strings.Builder
	b.WriteString(f.Code)
	if f.Link {
		b.WriteString(" link")
	}
	if f.Danger {
		b.WriteString(" danger")
	}
	fmt.Fprintf(&b, " of %s %s\n", f.Of.Kind, strings.TrimPrefix(f.Of.Namespace+"/"+f.Of.Name, "/"))
	if f.Quote != "" {
		fmt.Fprintf(&b, "quote: %s\n", f.Quote)
	}
	fmt.Fprintf(&b, "$ %s\n", f.Command)
	return b.String()
}

// TestEveryRowHasACase: the scripts show each code of the table, and each code has a source.
func TestEveryRowHasACase(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(raw)
	}
	codes := map[string]bool{}
	for _, k := range All() {
		codes[k.Code] = true
		if k.Source == "" || k.Says == "" || k.Do == "" {
			t.Errorf("%s lacks a source, a sentence or advice", k.Code)
		}
		if !regexp.MustCompile(`----\n` + k.Code + ` `).MatchString(text.String()) {
			t.Errorf("no script shows %s", k.Code)
		}
	}
	if len(codes) < 40 {
		t.Errorf("%d known failures, fewer than 40", len(codes))
	}
}

// TestTemplates: each placeholder is one that a sign or an expression of the row provides, and
// the last command of a row needs only what every sign has.
func TestTemplates(t *testing.T) {
	holder := regexp.MustCompile(`\{(\w+)\}`)
	for i := range table() {
		r := &table()[i]
		known := []string{"kind", "namespace", "name", "on"}
		for _, x := range append([]*regexp.Regexp{r.text}, r.also...) {
			if x != nil {
				for _, g := range x.SubexpNames() {
					known = append(known, strings.TrimRight(g, "2"))
				}
			}
		}
		for _, text := range append([]string{r.says, r.do, r.of.Name, r.of.Namespace}, r.commands...) {
			for _, m := range holder.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s: nothing provides {%s} of %q", r.code, m[1], text)
				}
			}
		}
		if strings.HasSuffix(r.says, ".") || strings.Contains(r.do, "…") {
			t.Errorf("%s: a sentence ends with a full stop, or is cut", r.code)
		}
	}
}

// TestNamesInCommands: a name that others chose is one word of the command, and never a flag.
func TestNamesInCommands(t *testing.T) {
	for _, name := range []string{"$(touch x)", "a'b", "a b", "a;b", "`x`"} {
		f := Recognise(&Sign{Kind: "Pod", Namespace: "shop", Name: name, Type: "waiting", Reason: "CrashLoopBackOff"})
		want := "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		if f == nil || !strings.Contains(f.Command, " "+want+" ") {
			t.Errorf("the name %q is not quoted: %v", name, f)
		}
	}
	f := Recognise(&Sign{Kind: "Pod", Namespace: "shop", Name: "--all", Type: "waiting", Reason: "CrashLoopBackOff"})
	if f == nil || f.Command != "" {
		t.Errorf("the name --all is a flag: %v", f)
	}
}

// TestOddMessages: no message makes the package panic, and what Telling returns is part of the
// message, whole at its beginning, and no longer than asked for.
func TestOddMessages(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 1))
	parts := []string{"failed to", ": ", "; ", ". ", "A", "\n", "\"", "x509: certificate has expired", "failed calling webhook", "no endpoints available for service", " ", "ü", "* ", "\xff", "rendered-worker-0a", "not found", "node w-1 is reporting: \""}
	for range long.N(2_000, 200_000) {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		message, width := b.String(), 40+r.IntN(60)
		Recognise(&Sign{Kind: "ClusterOperator", Name: "x", Message: message})
		got := Telling(message, width)
		head := strings.TrimSuffix(got, "…")
		at := strings.Index(message, head)
		if utf8.RuneCountInString(got) > width || at < 0 {
			t.Fatalf("Telling(%q, %d) = %q", message, width, got)
		}
	}
}
