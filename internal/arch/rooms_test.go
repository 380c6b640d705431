package arch_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/arch"
)

// TestRooms checks the diagram of the packages in docs/design.md, which is drawn
// from the imports; -update draws it again.
func TestRooms(t *testing.T) {
	const file, begin, end = "../../docs/design.md", "<!-- drawn from the imports by internal/arch -->\n", "<!-- end -->\n"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	old, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the diagram: %q and %q", file, begin, end)
	}
	tree, err := arch.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	picture := arch.Rooms(tree)
	if old == picture {
		return
	}
	if u := flag.Lookup("update"); u != nil && u.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(before+begin+picture+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the diagram in docs/design.md does not match the imports: run go test ./internal/arch -update\n%s", picture)
}
