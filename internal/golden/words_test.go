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
