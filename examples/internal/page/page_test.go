package page_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/page"
)

func TestFold(t *testing.T) {
	long := strings.Repeat("x", 120)
	for _, c := range []struct{ margin, text, want string }{
		{"a: ", "one  two", "a: one two\n"},
		{"a: ", "", "a: \n"},
		{"ä: ", "one " + long + " two", "ä: one\n   " + long + "\n   two\n"},
		{"to do: ", strings.Repeat("when it is done, ", 5) + "kubectl -n shop patch pdb db -p '{\"spec\": {}}'; then it goes on", "to do: " + strings.TrimSpace(strings.Repeat("when it is done, ", 5)) + "\n       kubectl -n shop patch pdb db -p '{\"spec\": {}}'; then it goes on\n"},
		{"", strings.Repeat("ä", 50) + " " + strings.Repeat("ö", 49) + " z", strings.Repeat("ä", 50) + " " + strings.Repeat("ö", 49) + "\n  z\n"},
	} {
		var out strings.Builder
		if page.Fold(&out, c.margin, c.text); out.String() != c.want {
			t.Errorf("%q behind %q:\n%swant\n%s", c.text, c.margin, out.String(), c.want)
		}
	}
}

// A command is one piece, whatever stands in its quotation marks, and ends where the sentence goes on.
func TestWrap(t *testing.T) {
	const command = `kubectl -n shop patch pdb db -p '{"spec": {"minAvailable": 1, "selector": null}, "x": 2}',`
	for text, want := range map[string][]string{
		"first " + command + " and then look again":             {"first", "  " + command, "  and then look again"},
		"nobody waits for so very long as oc does, I say":       {"nobody waits for so very long as oc", "  does, I say"},
		strings.Repeat("x", 19) + " " + strings.Repeat("y", 20): {strings.Repeat("x", 19) + " " + strings.Repeat("y", 20)},
	} {
		if got := page.Wrap("", "  ", text, 40); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func ExampleQuote() {
	page.Quote(os.Stdout, "said: ", "It failed:\n  * one\n* "+strings.Repeat("long ", 20)+"\nNo problem was found.\n")
	// Output:
	// said: | It failed:
	// said: |   * one
	// said: | * long long long long long long long long long long long long long long long long long long
	// said: | long long
	// said: | No problem was found.
}
