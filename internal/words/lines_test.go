package words_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/internal/words"
)

func ExampleSprintf() {
	fmt.Print(words.Sprintf("node %s: %d pods\n%s\n", "w1\n::error::none", 3, words.Text("a\nb")))
	// Output:
	// node w1⟨U+000A⟩::error::none: 3 pods
	// a
	// b
}

type name struct{ s string }

func (n name) String() string { return n.s }

func TestLines(t *testing.T) {
	joined := errors.Join(errors.New("a\nb"), errors.New("c"))
	for _, c := range []struct {
		format, want string
		values       []any
	}{
		{"%s|%v|%q\n", "a⟨U+000A⟩b|⟨U+0009⟩|\"x\\ny\"\n", []any{"a\nb", name{"\t"}, "x\ny"}},
		{"%-*s|%6.2f|%t\n", "ab   |  1.50|true\n", []any{5, "ab", 1.5, true}},
		{"%[2]s %[1]d\n", "x⟨U+2028⟩ 7\n", []any{7, "x\u2028"}},
		{"%v\n", "[a⟨U+000A⟩ b]\n", []any{[]string{"a\n", "b"}}},
		{"%v\n", "a⟨U+000A⟩b\nc\n", []any{joined}},
		{"%v\n", "m⟨U+000A⟩: a⟨U+000A⟩b\nc\n", []any{fmt.Errorf("m\n: %w", joined)}},
		{"%v\n", "a⟨U+000A⟩b⟨U+000A⟩c: m\n", []any{fmt.Errorf("%w: m", joined)}},
		{"%v %v\n", "<nil> <nil>\n", []any{nil, error(nil)}},
	} {
		if got := words.Sprintf(c.format, c.values...); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.format, c.values, got, c.want)
		}
	}
	if got := words.JoinLines([]string{"a\nb", "c"}); got != "a⟨U+000A⟩b\nc" {
		t.Errorf("JoinLines: %q", got)
	}
}
