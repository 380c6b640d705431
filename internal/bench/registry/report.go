package registry

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/fairlead/fairlead/internal/bench/cost"
)

// rounds is how often each task runs; medians are reported.
const rounds = 5

// source is a catalog that is measured.
type source struct{ name, archive, below string }

func sources() []source {
	return []source{
		{"slim, JSON", "slim.tar.gz", "."},
		{"published v4.22, YAML", "published.tar.gz", "v4.22"},
		{"full-sample, JSON with manifests", "full-sample.tar.gz", "."},
	}
}

// quiet silences the reference's warnings, which cost it time.
func quiet() { logrus.SetOutput(io.Discard) }

// Report writes, as a Markdown table, what each reader costs on the real catalogs.
// Each run is a process of its own, one after the other, in turns. Verdicts are
// compared first. If the data is absent, the report says so.
func Report(ctx context.Context, w io.Writer) error {
	quiet()
	cost.Head(w, "catalog", "task", "processor time", "on the clock", "peak memory", "part of the reference's time", "of its memory",
		"times reading and scanning")
	for _, s := range sources() {
		archive := DataPath(s.archive)
		if _, err := os.Stat(archive); err != nil {
			fmt.Fprintf(w, "| %s | skipped: %v | | | | | | |\n", s.name, err)
			continue
		}
		if err := s.report(ctx, w, archive); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (s source) report(ctx context.Context, w io.Writer, archive string) error {
	dir, err := os.MkdirTemp("", "catalog")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := Unpack(archive, dir); err != nil {
		return err
	}
	dir = filepath.Join(dir, s.below)
	theirs := Theirs(ctx, os.DirFS(dir))
	ours, err := Ours(ctx, os.DirFS(dir))
	if err != nil {
		return err
	}
	if ours.Valid != theirs.Valid || !Same(ours.Text, theirs.Text) {
		return fmt.Errorf("the verdicts differ: ours %q, the reference's %q", ours.Text, theirs.Text)
	}
	debug.FreeOSMemory()
	size, err := sizeOf(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range Tasks() {
		names = append(names, t.Name)
	}
	costs, err := cost.RunAll(ctx, rounds, dir, names...)
	if err != nil {
		return err
	}
	read, open, load, check, validate := costs[0], costs[1], costs[2], costs[3], costs[4]
	name := fmt.Sprintf("%s, %.3g MB", s.name, float64(size)/1e6)
	row := func(task string, c, peer cost.Process) {
		cost.Row(w, name, task, short(c.CPU), short(c.Clock), cost.Size(c.Peak),
			part(peer.CPU, c.CPU), part(peer.Peak, c.Peak), cost.Ratio(c.CPU, read.CPU))
	}
	row("read and scan", read, cost.Process{})
	row("fairlead: open and index", open, load)
	row("reference: LoadFS", load, cost.Process{})
	row("fairlead: open, index and validate", check, validate)
	row("reference: LoadFS, ConvertToModel (opm validate)", validate, cost.Process{})
	return nil
}

// part returns what part of the reference's cost ours is, or "" if there is nothing to
// compare with.
func part[N ~int64](theirs, ours N) string {
	if theirs == 0 {
		return ""
	}
	return "1/" + cost.Ratio(theirs, ours)
}

// short formats a duration with about three digits.
func short(d time.Duration) string {
	if d < 100*time.Millisecond {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

func sizeOf(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
