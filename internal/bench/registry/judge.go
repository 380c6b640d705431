package registry

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/fairlead/fairlead/catalog/check"
)

// Verdict is what a reader says about a catalog.
type Verdict struct {
	Text    string // a message or a tree of them; "" for a valid catalog
	Loading bool   // the fault stopped the reading; our words differ from the reference's
	Valid   bool   // by the rules; ours may be stricter than the text, which is opm's
}

// Theirs returns the verdict of opm validate: load, convert, validate.
func Theirs(ctx context.Context, fsys fs.FS) Verdict {
	cfg, err := declcfg.LoadFS(ctx, fsys)
	loading := err != nil
	if err == nil {
		_, err = declcfg.ConvertToModel(*cfg)
	}
	if err == nil {
		return Verdict{Valid: true}
	}
	return Verdict{Text: err.Error(), Loading: loading}
}

// Ours returns the verdict of package catalog, in opm's words.
func Ours(ctx context.Context, fsys fs.FS) (Verdict, error) {
	_, report, err := check.Open(ctx, fsys, nil)
	if err != nil {
		return Verdict{}, fmt.Errorf("check: %w", err)
	}
	return Verdict{Text: report.OPM(), Valid: report.Valid()}, nil
}

// Same reports whether two texts are the same tree except for the order of siblings,
// which is random in the reference.
func Same(a, b string) bool { return slices.Equal(paths(a), paths(b)) }

// paths returns the nodes of a tree of messages, sorted, each with the names of those
// above it.
func paths(tree string) []string {
	var found, above []string
	for line := range strings.Lines(strings.TrimSpace(tree)) {
		text := strings.TrimLeft(line, "│├└─ ")
		indent := len([]rune(line)) - len([]rune(text))
		above = append(above[:min(indent/4, len(above))], strings.TrimRight(text, ": \n"))
		found = append(found, strings.Join(above, " > "))
	}
	slices.Sort(found)
	return found
}
