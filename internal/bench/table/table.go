// Package table writes the tables in documents from the output of Go benchmarks.
package table

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
)

// Results are what a run of benchmarks printed.
type Results struct {
	names  []string                        // in the order of the output
	values map[string]map[string][]float64 // by name and unit: one for each run
	of     map[string]string               // by name: the package, below the module
}

// Read reads the output of "go test -bench". Lines that are not results are skipped.
func Read(r io.Reader) (*Results, error) {
	all := &Results{values: make(map[string]map[string][]float64), of: make(map[string]string)}
	lines := bufio.NewScanner(r)
	pkg := ""
	for lines.Scan() {
		if path, ok := strings.CutPrefix(lines.Text(), "pkg: "); ok {
			pkg = strings.TrimPrefix(path, "github.com/fairlead/fairlead/")
		}
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if at := strings.LastIndexByte(name, '-'); at > 0 { // how many processors
			if _, err := strconv.Atoi(name[at+1:]); err == nil {
				name = name[:at]
			}
		}
		if all.values[name] == nil {
			all.values[name] = make(map[string][]float64)
			all.names = append(all.names, name)
			all.of[name] = pkg
		}
		for i := 2; i+1 < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q is not a number", name, words[i])
			}
			all.values[name][words[i+1]] = append(all.values[name][words[i+1]], v)
		}
	}
	return all, lines.Err()
}

// value returns the median of the measured values.
func (r *Results) value(name, unit string) (v float64, ok bool) {
	all := slices.Sorted(slices.Values(r.values[name][unit]))
	if len(all) == 0 {
		return 0, false
	}
	return all[len(all)/2], true
}

// Table returns a table of the results of a benchmark, whose names are
// BENCHMARK/SOLVER/WORKLOAD: a row for each workload, with the processor time, bytes
// and allocations of each solver, how many of its answers are wrong, and how many times
// as long as the first solver it takes.
func (r *Results) Table(benchmark string) string {
	var solvers, workloads []string
	for _, name := range r.names {
		parts := strings.SplitN(name, "/", 3)
		if len(parts) < 3 || parts[0] != benchmark {
			continue
		}
		if !slices.Contains(solvers, parts[1]) {
			solvers = append(solvers, parts[1])
		}
		if !slices.Contains(workloads, parts[2]) {
			workloads = append(workloads, parts[2])
		}
	}
	if len(solvers) == 0 {
		return ""
	}
	var out strings.Builder
	head := append([]string{strings.ToLower(benchmark)}, solvers...)
	for _, peer := range solvers[1:] {
		head = append(head, peer+" takes")
	}
	cost.Head(&out, head...)
	for _, w := range workloads {
		row := []string{w}
		for _, s := range solvers {
			row = append(row, r.cell(benchmark+"/"+s+"/"+w))
		}
		own, _ := r.value(benchmark+"/"+solvers[0]+"/"+w, "cpu-ns/op")
		for _, peer := range solvers[1:] {
			theirs, _ := r.value(benchmark+"/"+peer+"/"+w, "cpu-ns/op")
			ratio := cost.Ratio(time.Duration(theirs), time.Duration(own))
			if ratio != "" {
				ratio += " x"
			}
			row = append(row, ratio)
		}
		cost.Row(&out, row...)
	}
	return out.String()
}

// Headline returns a table of the figures that every engine has: a row for each
// group of packages, with the results of its BenchmarkHeadline, whose names say the sizes.
func (r *Results) Headline() string {
	cells := make(map[string][]string)
	for _, name := range r.names {
		what, ok := strings.CutPrefix(name, "Headline/")
		if !ok {
			continue
		}
		t, _ := r.value(name, "ns/op")
		bytes, _ := r.value(name, "B/op")
		group, _, _ := strings.Cut(r.of[name], "/")
		cells[group] = append(cells[group], fmt.Sprintf("%s: %s, %s", strings.ReplaceAll(what, "/", " "), cost.Duration(time.Duration(t)), cost.Size(uint64(bytes))))
	}
	if len(cells) == 0 {
		return ""
	}
	var out strings.Builder
	cost.Head(&out, "packages", "time and memory allocated, by what is done and how much of it")
	for _, pkg := range slices.Sorted(maps.Keys(cells)) {
		cost.Row(&out, pkg, strings.Join(cells[pkg], "<br>"))
	}
	return out.String()
}

func (r *Results) cell(name string) string {
	t, ok := r.value(name, "cpu-ns/op")
	if !ok {
		return ""
	}
	words := []string{cost.Duration(time.Duration(t))}
	if bytes, ok := r.value(name, "B/op"); ok {
		allocs, _ := r.value(name, "allocs/op")
		words = append(words, cost.Size(uint64(bytes)), fmt.Sprintf("%.0f allocs", allocs))
	}
	for _, unit := range []string{"packages", "questions", "requests", "behind", "removed", "added", "broken", "worse"} {
		if v, ok := r.value(name, unit); ok && v > 0 {
			words = append(words, fmt.Sprintf("%.0f %s", v, unit))
		}
	}
	return strings.Join(words, ", ")
}

// Short returns one line: how many times as long as the first solver the second one
// takes, from the lowest to the highest ratio of each kind of workload. The kind is the
// part of a workload's name before "=".
func (r *Results) Short(benchmark string) string {
	var own, peer string
	var kinds []string
	least, most := map[string]float64{}, map[string]float64{}
	for _, name := range r.names {
		parts := strings.SplitN(name, "/", 3)
		if len(parts) < 3 || parts[0] != benchmark {
			continue
		}
		switch parts[1] {
		case cmp.Or(own, parts[1]):
			own = parts[1]
			continue
		case cmp.Or(peer, parts[1]):
			peer = parts[1]
		default:
			continue
		}
		a, _ := r.value(name, "cpu-ns/op")
		b, _ := r.value(benchmark+"/"+own+"/"+parts[2], "cpu-ns/op")
		if a <= 0 || b <= 0 {
			continue
		}
		kind, _, _ := strings.Cut(parts[2], "=")
		if _, known := least[kind]; !known {
			kinds = append(kinds, kind)
			least[kind] = a / b
		}
		least[kind], most[kind] = min(least[kind], a/b), max(most[kind], a/b)
	}
	if kinds == nil {
		return ""
	}
	for i, kind := range kinds {
		from, to := times(least[kind]), times(most[kind])
		if from != to {
			from += " to " + to
		}
		kinds[i] = from + " (" + kind + ")"
	}
	return fmt.Sprintf("- %s takes %s times as long as %s\n", peer, strings.Join(kinds, ", "), own)
}

// times formats a ratio with at least two digits.
func times(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// Update replaces, in a document, the text between the lines "<!-- table NAME -->" and
// "<!-- end of table -->", for every name with results. Instead of a name, "short NAME,
// NAME" gives a line for each, and "Headline" the table of that name.
func (r *Results) Update(doc string) (string, error) {
	const begin, end = "<!-- table ", "<!-- end of table -->"
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(doc, begin)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, rest, ok := strings.Cut(rest, " -->\n")
		old, rest, ends := strings.Cut(rest, end)
		if !ok || !ends || strings.Contains(old, begin) {
			return "", fmt.Errorf("table %q does not end: put %s on a line after it", name, end)
		}
		var text string
		if names, short := strings.CutPrefix(name, "short "); short {
			for name := range strings.SplitSeq(names, ", ") {
				text += r.Short(name)
			}
		} else if text = r.named(name); text != "" {
			text = "\n" + text + "\n"
		}
		old = cmp.Or(text, old)
		fmt.Fprintf(&out, "%s%s -->\n%s%s", begin, name, old, end)
		doc = rest
	}
}

// named returns the table of a name.
func (r *Results) named(name string) string {
	if name == "Headline" {
		return r.Headline()
	}
	return r.Table(name)
}
