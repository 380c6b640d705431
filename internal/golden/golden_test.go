package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func handler(*testing.T) Handler {
	return func(c *Command) string {
		switch c.Name {
		case "args":
			var out strings.Builder
			for _, a := range c.Args {
				fmt.Fprintf(&out, "%s %q\n", a.Key, a.Values)
			}
			return out.String()
		case "upper":
			return strings.ToUpper(c.Input)
		case "paragraphs":
			return "one\n\ntwo"
		case "nothing":
			return ""
		}
		return "unknown command " + c.Name
	}
}

func TestScripts(t *testing.T) {
	Run(t, "testdata/*.txt", handler)
}

// TestUpdateIsStable checks that writing the output of a passing script changes
// nothing.
func TestUpdateIsStable(t *testing.T) {
	file := filepath.Join("testdata", "format.txt")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := parse(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := rewrite(blocks, handler(t)); got != string(text) {
		t.Errorf("rewrite changed a passing script:\n%s", diff(string(text), got))
	}
}

// TestUpdateRepairs checks that a wrong expectation is replaced and comments
// are kept.
func TestUpdateRepairs(t *testing.T) {
	blocks, err := parse("x", "# keep\nupper\nab\n----\nwrong\n\nparagraphs\n----\n\n# end\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "# keep\nupper\nab\n----\nAB\n\nparagraphs\n----\n----\none\n\ntwo\n----\n----\n\n# end\n"
	if got := rewrite(blocks, handler(t)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"upper\nabc\n":               `s.txt:1: command "upper" has no "----" line: put one after its input`,
		"\n\nargs a=(b\n----\n":      `s.txt:3: unbalanced parentheses in "args a=(b"`,
		"nothing\n----\n----\nabc\n": `s.txt:1: output that begins with two "----" lines must end with two`,
	} {
		if _, err := parse("s.txt", text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
