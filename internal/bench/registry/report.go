package registry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/sirupsen/logrus"
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

// Report writes, as a Markdown table, what each reader costs on the real
// catalogs; each run is a process of its own, one after the other, in turns.
// Verdicts are compared first. Where the data is absent it says so.
func Report(ctx context.Context, w io.Writer) error {
	quiet()
	fmt.Fprintln(w, "| catalog | task | time of the processors | on the clock | peak memory | part of the reference's time | of its memory | times reading and scanning |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
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
	costs, err := measure(ctx, dir)
	if err != nil {
		return err
	}
	read, open, load, check, validate := costs[0], costs[1], costs[2], costs[3], costs[4]
	name := fmt.Sprintf("%s, %.3g MB", s.name, float64(size)/1e6)
	row := func(task string, c, peer cost) {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.3g MB | %s | %s | %.1f |\n", name, task, short(c.cpu), short(c.clock), float64(c.peak)/1e6,
			ratio(float64(peer.cpu), float64(c.cpu), "1/%.1f"), ratio(float64(peer.peak), float64(c.peak), "1/%.1f"), float64(c.cpu)/float64(read.cpu))
	}
	row("read and scan", read, cost{})
	row("fairlead: open and index", open, load)
	row("reference: LoadFS", load, cost{})
	row("fairlead: open, index and validate", check, validate)
	row("reference: LoadFS, ConvertToModel (opm validate)", validate, cost{})
	return nil
}

// ratio writes how many times one goes into the other, nothing if there is
// nothing to compare with.
func ratio(theirs, ours float64, format string) string {
	if theirs == 0 || ours == 0 {
		return ""
	}
	return fmt.Sprintf(format, theirs/ours)
}

// short writes a duration with three digits or so.
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

// cost is what a task used.
type cost struct {
	used
	peak int64 // bytes
}

// measure runs every task several times, in turns, and returns the medians of
// each, in the order of [tasks].
func measure(ctx context.Context, dir string) ([]cost, error) {
	all := make([][]cost, len(tasks))
	for round := range rounds + 1 {
		for i, t := range tasks {
			c, err := runChild(ctx, t.name, dir)
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first one warms the system's file cache
				all[i] = append(all[i], c)
			}
		}
	}
	medians := make([]cost, len(tasks))
	for i, costs := range all {
		medians[i].cpu = median(costs, func(c cost) time.Duration { return c.cpu })
		medians[i].clock = median(costs, func(c cost) time.Duration { return c.clock })
		medians[i].peak = median(costs, func(c cost) int64 { return c.peak })
	}
	return medians, nil
}

func median[T int64 | time.Duration](costs []cost, of func(cost) T) T {
	var values []T
	for _, c := range costs {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// runChild runs a task in a process of its own.
func runChild(ctx context.Context, task, dir string) (cost, error) {
	self, err := os.Executable()
	if err != nil {
		return cost{}, err
	}
	var out, fault bytes.Buffer
	cmd := exec.CommandContext(ctx, self, dir)
	cmd.Env = append(os.Environ(), childEnv+"="+task)
	cmd.Stdout, cmd.Stderr = &out, &fault
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", task, err, fault.Bytes())
	}
	var cpu, clock, peak int64
	if _, err := fmt.Fscan(&out, &cpu, &clock, &peak); err != nil {
		return cost{}, fmt.Errorf("%s: %w", task, err)
	}
	return cost{used{time.Duration(cpu), time.Duration(clock)}, peak}, nil
}
