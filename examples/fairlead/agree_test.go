package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// contradictions are those that are accepted, by claim, with the name of the issue that removes them.
var contradictions = map[string]string{}

// agreeing are claims that verbs make of one dump: what a verb says, and with what it must agree.
var agreeing = []struct {
	name  string
	agree func(status, diagnosis, page map[string]any) (a, b any)
}{
	{"the assessment of update status and diagnose", func(s, d, _ map[string]any) (any, any) { return s["assessment"], d["assessment"] }},
	{"the release of update status and diagnose", func(s, d, _ map[string]any) (any, any) {
		if s["target"] == "" || d["word"] == nil || refused(d) {
			return nil, nil
		}
		return s["target"], d["to"]
	}},
	{"the verdict of report and diagnose", func(_, d, p map[string]any) (any, any) {
		v, _ := p["diagnosis"].(map[string]any)
		if v == nil {
			return nil, nil
		}
		return strings.ToUpper(fmt.Sprint(d["word"])), v["word"]
	}},
	{"what diagnose knows to be healthy, and what update status finds", func(s, d, _ map[string]any) (any, any) {
		if d["health"] != "Healthy" || len(d["unknown"].([]any)) > 0 {
			return nil, nil
		}
		for _, f := range s["findings"].([]any) {
			if f.(map[string]any)["severity"] == "error" {
				return "healthy", f
			}
		}
		return nil, nil
	}},
	{"the number of nodes of update status and report", func(s, _, p map[string]any) (any, any) {
		n, _ := p["nodes"].(map[string]any)
		if n == nil {
			return nil, nil
		}
		names, _ := n["name"].([]any)
		return len(s["nodes"].([]any)), len(names)
	}},
}

// refused reports whether the diagnosis is about an update that was refused: then it names that one.
func refused(d map[string]any) bool { return d["from"] != nil && d["from"] != "" }

// No verb contradicts another about one dump.
func TestAgree(t *testing.T) {
	all, _ := scopeDump(t, "", "")
	inputs := []string{all, "testdata/hostile/cluster.yaml"}
	for kind := range scopeCluster {
		for form := range scopeForms {
			if dir, is := scopeDump(t, kind, form); is && kind != "ClusterVersion" {
				inputs = append(inputs, dir)
			}
		}
	}
	reports, _ := filepath.Glob("../../../shared/reports/cvo/*.yaml")
	inputs = append(inputs, reports...)
	recorded, _ := filepath.Glob("../../../shared/data/updates/status/*-cv.yaml")
	for _, name := range recorded {
		inputs = append(inputs, strings.TrimSuffix(name, "-cv.yaml"))
	}
	if len(recorded) == 0 {
		t.Log("the recorded clusters are not here")
	}
	found := map[string]bool{}
	for _, in := range inputs {
		if _, err := os.Stat(in); err == nil && strings.HasSuffix(in, "badcfg.yaml") {
			continue
		}
		status, diagnosis, page := agreeRun(t, "update status", in), agreeRun(t, "diagnose", in), agreeRun(t, "report", in)
		if status == nil || diagnosis == nil || page == nil {
			continue // one of the verbs says that the dump lacks what it needs
		}
		for _, c := range agreeing {
			if a, b := c.agree(status, diagnosis, page); fmt.Sprint(a) != fmt.Sprint(b) {
				found[c.name] = true
				if contradictions[c.name] == "" {
					t.Errorf("%s: %s: %v, but %v", in, c.name, a, b)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(contradictions)) {
		if !found[name] && len(recorded) > 0 {
			t.Errorf("%s: nothing contradicts any more: remove it from the list", name)
		}
	}
}

func agreeRun(t *testing.T, verb, in string) map[string]any {
	t.Helper()
	text, status := redactRun(t, append(strings.Fields(verb), in, "-o", "json")...)
	var v map[string]any
	if status == 2 || json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}
