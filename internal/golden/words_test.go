package golden

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// TestWordsData: names and numbers are data, in their order; what the subject says
// already is left out.
func TestWordsData(t *testing.T) {
	w := &Words{t: t, lines: map[string]string{}}
	b := fairlead.Block{
		Subject: "pod d/db-0", Reason: "BudgetSpent", Owner: "budget d/db", Since: time.Unix(90, 0),
		Message: "Pod d/db-0 waits: budget d/db needs 2 healthy pods and has 2", Unblock: "wait",
	}
	if got, want := w.Block(b, time.Unix(0, 0)), "pod d/db-0: BudgetSpent [2 2] owner budget d/db since 1m30s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Message = "Pod d/db-0 waits: budget d/db needs 3 healthy pods and has 2"
	w.Block(b, time.Unix(0, 0))
	if len(w.lines) != 2 {
		t.Errorf("the words are %q, want one line for the message and one for the way out", w.lines)
	}
	b.Message = "Pod d/db-0 stays: budget d/db needs 3 healthy pods and has 2"
	w.Block(b, time.Unix(0, 0))
	if len(w.lines) != 3 {
		t.Errorf("another wording is not another line: %q", w.lines)
	}
	if got := (*Words)(nil).Data("x", "it has none"); got != "" {
		t.Errorf("got data %q", got)
	}
}

// TestWordsTable: the table has each wording once, sorted.
func TestWordsTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(file, []byte("a: 1 is one\nb: two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &Words{t: t, lines: map[string]string{}}
	w.Data("b", "two")
	w.Data("a", "1 is one")
	w.Data("a", "2 is one")
	w.compare(file)
}

// TestWordsSay: what is said has the name that the table gives to its wording, and a new one
// is named by its words; findings have their code.
func TestWordsSay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(file, []byte("chosen: a.v1 is the head of its channel\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &Words{t: t, file: file, lines: map[string]string{}}
	d := &fairlead.Diagnostic{Pos: fairlead.Position{File: "c.yaml", Line: 2}, Code: "no-head", Subject: `channel "b1"`, Message: "channel b1 has 2 heads", Hint: "remove v2"}
	for _, c := range []struct{ got, want string }{
		{w.Say("b.v7 is the head of its channel"), "chosen [b.v7]"},
		{w.Say("b.v7 is not in channel K"), "is-not-in-channel [b.v7 K]"},
		{w.Say("b.v7 is not in channel K yet"), "is-not-in-channel-yet [b.v7 K]"},
		{w.Say("b.v7 c.v1"), "data [b.v7 c.v1]"},
		{w.Say("it is"), "it-is"},
		{w.Tree("it is\n\n└─ K1 is the head of its channel\n"), "it-is\n\n└─ chosen [K1]\n"},
		{w.Finding(d), `c.yaml:2: no-head: channel "b1" [2] [v2]`},
		{(*Words)(nil).Say("it is"), "it is"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if got := w.lines["chosen:  is the head of its channel"]; got != "chosen: b.v7 is the head of its channel" {
		t.Errorf("got %q in %q", got, w.lines)
	}
}
