package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// redactCalls are the verbs that read a cluster.
var redactCalls = []string{
	"diagnose DUMP -v", "drain DUMP -v", "machine explain DUMP -v", "taints explain DUMP", "taints matrix DUMP", "taints lint DUMP", "operators DUMP",
	"plan DUMP -to newest", "plan DUMP -to newest -none gates -none members", "update status DUMP -v", "update recommend DUMP -all",
}

// redactInputs are dumps of this module.
var redactInputs = []string{
	"testdata/hostile/cluster.yaml", "machine/dumps/stuck-worker.yaml", "machine/dumps/waves.yaml", "machine/dumps/part", "machine/dumps/cluster-api.json", "taint/testdata/cluster.json", "resolve/testdata/dump",
}

// What a verb says of a redacted dump is what it says of the dump, but for names; none of the names is
// left.
func TestRedact(t *testing.T) {
	all, _ := scopeDump(t, "", "")
	inputs := append([]string{all}, redactInputs...)
	for kind := range scopeCluster {
		for form := range scopeForms {
			if dir, is := scopeDump(t, kind, form); is && (kind == "Pod" || kind == "Node" || kind == "Subscription") {
				inputs = append(inputs, dir)
			}
		}
	}
	shared, _ := filepath.Glob("../../../shared/reports/*/*.yaml") // public reports, if they are there
	inputs = append(inputs, slices.DeleteFunc(shared, func(name string) bool { return strings.HasSuffix(name, "badcfg.yaml") })...)
	for _, in := range inputs {
		dir := filepath.Join(t.TempDir(), "out")
		names := dir + ".names"
		if out, status := redactRun(t, "redact", in, "-o", dir, "-names", names); status != 0 {
			t.Errorf("redact %s: exit status %d\n%s", in, status, out)
			continue
		}
		back := redactBack(t, names)
		for _, call := range redactCalls {
			want, before := redactRun(t, strings.Fields(strings.ReplaceAll(call, "DUMP", in))...)
			got, after := redactRun(t, strings.Fields(strings.ReplaceAll(call, "DUMP", dir))...)
			want, got = redactPlain(want, in), redactPlain(back(got), dir)
			if want != got || before != after {
				t.Errorf("%s of %s: exit status %d, then %d\n%s", call, in, before, after, firstDifference(want, got))
			}
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Fields(a), strings.Fields(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			from := max(0, i-8)
			return "- " + strings.Join(x[from:min(len(x), i+12)], " ") + "\n+ " + strings.Join(y[from:min(len(y), i+12)], " ")
		}
	}
	return "one is longer"
}

// redactPlain leaves out what is not about the cluster: the path of the input, and how lines are broken.
func redactPlain(text, path string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, path, "DUMP")), " ")
	text = strings.ReplaceAll(text, " (a typo?)", "")                      // a redacted word is near no other
	return regexp.MustCompile(`DUMP/[^)]*`).ReplaceAllString(text, "DUMP") // where something could not be read
}

// redactBack returns a function that gives names back.
func redactBack(t *testing.T, names string) func(string) string {
	text, err := os.ReadFile(names)
	if err != nil {
		t.Fatal(err)
	}
	is := map[string]string{}
	var alternatives []string
	for line := range strings.Lines(string(text)) {
		now, was, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		is[now] = was
		alternatives = append(alternatives, regexp.QuoteMeta(now))
	}
	slices.SortFunc(alternatives, func(a, b string) int { return len(b) - len(a) })
	if len(is) == 0 {
		return func(s string) string { return s }
	}
	find := regexp.MustCompile(strings.Join(alternatives, "|"))
	return func(s string) string { return find.ReplaceAllStringFunc(s, func(w string) string { return is[w] }) }
}

func redactRun(t *testing.T, words ...string) (string, int) {
	t.Helper()
	var out, errs bytes.Buffer
	status := tool().Program("fairlead")(t.Context(), words, strings.NewReader(""), &out, &errs)
	if status == 2 { // the input has not what the verb is about
		return "", status
	}
	return out.String(), status
}
