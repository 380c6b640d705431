package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/doc"
)

// hostile are texts that somebody who names an object, or writes a message, could choose. FORGED
// is never the beginning of a line of text that is printed.
var hostile = []string{
	"$(touch PWNED)", "`touch PWNED`", "'; touch PWNED; '", "\"; touch PWNED; \"", "\ntouch PWNED\n", "&& touch PWNED", "| touch PWNED", "> PWNED", "${IFS}touch", "*", "~root", "!!", "\\", "=ls", " a  b ", "#",
	"--selector=", "-A", "--all", "-", `\033[2J`, `\c`, `\x1b[31m`, `x\`, `\nFORGED`, "' '", `","kind":"Pwned`,
	"\x1b[31m\x1b]0;title\x07", "\u009b2J", "\u202eevil", "\u2028", "\r", "\t", "\x7f", "\U000e0041", "\x00",
	"\nFORGED no problem was found\n", "\n::add-mask::x\n", "\r\n##[error]x", "##vso[task.complete]", "%0A::error::x", "::stop-commands::x",
	"<script>FORGED</script>", "</svg><img src=x onerror=FORGED>", "[l](javascript:FORGED)", "| a | b |", "\n\n# FORGED\n\n", "```\nFORGED\n```", "</pre>", "\"]; click n0 href \"javascript:FORGED\"", "%s%d%n", "{{.}}", "NODE", "COMMAND",
}

// poison is one input: which strings of the documents become what. Equal strings become equal
// strings, so that names still refer to each other.
type poison struct {
	r      *rand.Rand
	share  int  // of the strings that are names and texts, in percent
	all    bool // also times, versions, kinds
	become map[string]string
}

// structural are the keys whose values decide what a document is, not what it says.
var structural = []string{
	"apiVersion", "kind", "schema", "type", "status", "effect", "operator", "phase", "strategy", "machineconfiguration.openshift.io/state", "include.release.openshift.io/self-managed-high-availability",
	"mediatype", "then", "takes", "for",
}

// structuralValue matches times, numbers, versions, durations and the like.
var structuralValue = regexp.MustCompile(`^(v?[<>=]*\d[\w.:+-]*|\d+(?:[hms]|Gi|%)?|version|cluster|True|False|Unknown|machine-config|admin-(?:gates|acks)|openshift-config(?:-managed)?|operators\.operatorframework.*|registry\+v1|manifests/|metadata/|community|shop|shop\.v.*|database|stable|beta|rendered-.*)?$`)

// text returns what a string becomes.
func (p *poison) text(key, s string) string {
	if (slices.Contains(structural, key) || structuralValue.MatchString(s)) && !(p.all && p.r.IntN(20) == 0) {
		return s
	}
	if _, known := p.become[s]; !known {
		p.become[s] = s
		if p.r.IntN(100) < p.share {
			h := hostile[p.r.IntN(len(hostile))]
			p.become[s] = []string{s + h, h + s, s + h + s}[p.r.IntN(3)]
		}
	}
	return p.become[s]
}

// value poisons a value.
func (p *poison) value(key string, v any) any {
	switch v := v.(type) {
	case string:
		return p.text(key, v)
	case []any:
		for i := range v {
			v[i] = p.value(key, v[i])
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			x := p.value(k, v[k])
			if key == "labels" || key == "matchLabels" || key == "data" {
				delete(v, k)
				k = p.text("", k)
			}
			v[k] = x
		}
	}
	return v
}

// file poisons the documents of a file.
func (p *poison) file(data []byte, name string) ([]byte, error) {
	var out bytes.Buffer
	r := doc.NewReader(bytes.NewReader(data), name, doc.Limits{})
	for {
		d, err := r.Next()
		if err == io.EOF {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		var v any
		if err := json.Unmarshal(d.JSON, &v); err != nil {
			return nil, err
		}
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(p.value("", v)); err != nil {
			return nil, err
		}
	}
}

// tree poisons the files of testdata/hostile into a directory.
func (p *poison) tree(t *testing.T, dir string) {
	t.Helper()
	seeds := os.DirFS(filepath.Join("testdata", "hostile"))
	err := fs.WalkDir(seeds, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(filepath.Join(dir, name), 0o755))
		}
		data, err := fs.ReadFile(seeds, name)
		if err == nil {
			data, err = p.file(data, name)
		}
		return errors.Join(err, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hostileCalls are the calls of every verb, one a line; {x} is the name that x has become.
// TestHostileVerbs checks that no verb is left out.
const hostileCalls = `
diagnose cluster.yaml -at 2026-05-01T09:00:00Z
diagnose cluster.yaml -at 2026-05-01T09:00:00Z -v
diagnose cluster.yaml -at 2026-05-01T09:00:00Z -o json
diagnose cluster.yaml -at 2026-05-01T09:00:00Z -o dot
diagnose cluster.yaml -at 2026-05-01T09:00:00Z -o mermaid
explain cluster.yaml node/{w0} -at 2026-05-01T09:00:00Z
explain cluster.yaml node/{w0} -at 2026-05-01T09:00:00Z -o json
explain cluster.yaml update/any -at 2026-05-01T09:00:00Z
update status cluster.yaml -now 2026-05-01T09:00:00Z
update status cluster.yaml -now 2026-05-01T09:00:00Z -v
update status cluster.yaml -now 2026-05-01T09:00:00Z -o json
update recommend cluster.yaml -all
update recommend cluster.yaml -to 4.19.3
update recommend cluster.yaml -o yaml
update graph graph.json -from 4.18.1
update graph graph.json -from 4.18.1 -to 4.19.3
update graph graph.json -from 4.18.1 -to 4.19.3 -o json
update graph graph.json -from 4.18.1 -o mermaid
update graph graph.json -from 4.18.1 -o dot
update plan payload -v
update plan payload -lint
update plan payload -o json
update plan payload -o dot
update plan payload -o mermaid
update plan payload -o svg
update diff payload next
update diff payload next -o json
update simulate update.yaml
update simulate update.yaml -o json
update simulate update.yaml -o svg
update simulate update.yaml -o mermaid
plan cluster.yaml -to 4.19 -accept {SlowNames} -none operators -none members -at 2026-05-01T09:00:00Z
plan cluster.yaml -to 4.19 -pause-workers -out {w0} -out {w2} -graph graph.json -at 2026-05-01T09:00:00Z
plan cluster.yaml -out {w0} -at 2026-05-01T09:00:00Z
plan cluster.yaml -to 4.18.2 -catalog new -at 2026-05-01T09:00:00Z -o json
plan cluster.yaml -to 4.18.2 -at 2026-05-01T09:00:00Z -o mermaid
plan cluster.yaml -to 4.20 -at 2026-05-01T09:00:00Z
fleet . -to 4.19 -catalog old -new-catalog new -v
fleet . -to 4.18.2 -o json
report cluster.yaml -o html -at 2026-05-01T09:00:00Z
report cluster.yaml -o json -at 2026-05-01T09:00:00Z
drain cluster.yaml -v -at 2026-05-01T09:00:00Z
drain cluster.yaml -node {w0} -at 2026-05-01T09:00:00Z
drain cluster.yaml -node nothing -at 2026-05-01T09:00:00Z
drain cluster.yaml -o json -at 2026-05-01T09:00:00Z
machine explain cluster.yaml -v -at 2026-05-01T09:00:00Z
machine explain cluster.yaml -machine {machine-w0} -at 2026-05-01T09:00:00Z
machine explain cluster.yaml -o json -at 2026-05-01T09:00:00Z
machine simulate deletions.yaml
machine simulate deletions.yaml -o json
machine simulate deletions.yaml -o svg
machine simulate deletions.yaml -o mermaid
taints explain cluster.yaml -v
taints explain cluster.yaml
taints explain cluster.yaml -node {w1}
taints explain cluster.yaml -o json
taints matrix cluster.yaml
taints matrix cluster.yaml -o json
taints lint cluster.yaml
taints lint cluster.yaml -o json
taints whatif cluster.yaml -event dark=10m -start 2026-05-01T09:00:00Z
taints whatif cluster.yaml -event dark=10m -start 2026-05-01T09:00:00Z -o json
taints whatif cluster.yaml -event dark=10m -start 2026-05-01T09:00:00Z -o svg
taints parse {gpu}={small}:NoSchedule {dedicated}-
taints parse {gpu}- -f cluster.yaml -node {w2}
resolve -catalog c=new -subscribe shop
resolve shop -catalog c=new
resolve shop -catalog c=old -explain
resolve shop -catalog c=old -o json
resolve shop -catalog c=old -o mermaid
resolve shop -catalog c=old -o dot
resolve -cluster cluster.yaml -catalog community=new
resolve -cluster cluster.yaml -catalog community=new -o json
resolve shop -catalog c=new -why-not shop.v3.0.0
diagnose cluster.yaml
diagnose cluster.yaml -o json
explain cluster.yaml node/{w0}
explain cluster.yaml pod/{db-0} -o json
operators cluster.yaml
changes cluster.yaml cluster.yaml
changes cluster.yaml cluster.yaml -o json -v
operators cluster.yaml -catalog community=new -o json
catalog validate new -lint all -v
catalog validate new -o json
catalog validate new -o sarif
catalog validate new -o opm
catalog list packages old
catalog list channels old
catalog list bundles old
catalog list sizes old
catalog list packages old -o json
catalog list bundles old -o json
catalog graph old shop -o mermaid
catalog graph old shop -o dot
catalog graph old shop -o svg
catalog path old shop 1.0.0 2.0.0
catalog path new shop 1.0.0 3.0.0
catalog diff old new
catalog diff old new -o json
catalog release old new
catalog release old new -o json
catalog release old new -o sarif
catalog filter old -package shop -o yaml
catalog merge old -prefer first
catalog convert old -o jsonl
catalog render bundle
catalog template basic new/catalog.yaml
catalog untemplate old
catalog bundle validate bundle
catalog packagemanifest old
catalog packagemanifest old shop -o yaml
catalog add old bundle -channel stable -n
catalog remove old shop shop.v1.0.0 -n
catalog deprecate old shop stable -message {old} -n
catalog channel old shop fork stable {next} -n
catalog init {shop2}
catalog dockerfile {absent}
diagnose cluster.yaml -to 4.18.2 -at 2026-05-01T09:00:00Z
diagnose cluster.yaml -at 2026-05-01T09:00:00Z -o svg
explain cluster.yaml pod/{db-0} -n {shop} -v
explain cluster.yaml pdb/{web} -n {shop}
explain cluster.yaml machine/{machine-w0} -n openshift-machine-api
explain cluster.yaml subscription/{shop} -n {shop}
explain cluster.yaml csv/{shop.v1.0.0} -n {shop}
resolve -cluster cluster.yaml -catalog community=new -namespace {shop} -global {marketplace} -at 2026-05-01T09:00:00Z -v
resolve -cluster cluster.yaml -catalog community=new -impact community=old
resolve -cluster cluster.yaml -catalog community=new -adopt {shop.v1.0.0}
resolve -batch cases.jsonl -catalog c=old
resolve shop -catalog c=new -catalog d=old,priority=1 -installed {shop.v1.0.0} -cross-catalog -no-downgrades -stay-on-channel -not-excludes -timeout 1s
resolve shop/{stable} -catalog c=new -only {shop} -prefer fewest-changes
resolve shop -catalog c=new -installed shop.v1.0.0 -path {shop}
resolve shop -catalog c=new -lock lock.yaml
resolve shop -catalog c=new -lock lock.json -relock
operators cluster.yaml -at 2026-05-01T09:00:00Z -v -namespace {shop} -global {marketplace}
operators cluster.yaml -minor next
operators cluster.yaml -minor 4.19 -o json
operators cluster.yaml -of csv/{shop}/{shop.v1.0.0}
operators cluster.yaml -of subscription/{shop}/{shop}
operators cluster.yaml -uninstall {shop}/{shop}
operators cluster.yaml -refresh {shop}/{shop}
catalog validate new -o github
catalog validate new -fix -n
catalog graph old shop -channel {stable} -o svg
catalog path old shop 1.0.0 2.0.0 -channel {stable} -rules v1
catalog diff old new -fix -n
catalog release old new -o github
catalog release old new -report report.md -sarif report.sarif -pictures pictures -with other=old
catalog filter old -package {shop}/{stable} -newest 1 -default {shop}={beta} -no-dependencies -o jsonl
catalog filter old -to filtered -o json
catalog merge old new -base old -n
catalog merge old new -prefer last -o jsonl
catalog merge old new -prefer last -to merged -o json
catalog convert old -csv-metadata -to converted -o json
catalog render bundle -image {registry/shop:2.0.0} -csv-metadata -lenient -o json
catalog template basic new/catalog.yaml -catalog old -bundle {registry/shop:2.0.0}=bundle -image {registry/shop:2.0.0} -csv-metadata -lenient -o json
catalog untemplate old -o json
catalog bundle validate bundle -v1 -lint -lenient -kube-version 1.31.0 -suite operatorhub -suite community -suite multiarch -platforms platforms.json -dockerfile Dockerfile
catalog bundle validate bundle -lint -o json
catalog bundle validate bundle -o sarif
catalog bundle generate bundle -package {shop} -channel {stable} -default {stable}
catalog packagemanifest old -name {community} -namespace {marketplace} -o json
catalog add old bundle -channel {stable} -image {registry/shop:2.0.0} -csv-metadata -n
catalog deprecate old shop stable -undo -n
catalog init {shop2} -default-channel {stable} -description new/catalog.yaml -icon icon.svg -o json
catalog dockerfile {absent} -i {registry/opm} -b {registry/opm}
taints explain -f cluster.yaml -pod {shop}/{web-1} -at 2026-05-01T09:00:00Z -numbers
taints explain -f cluster.yaml -redact
taints matrix -f cluster.yaml -at 2026-05-01T09:00:00Z -numbers -v
taints lint -f cluster.yaml -at 2026-05-01T09:00:00Z -numbers -v
taints whatif -f cluster.yaml -event {w1}:dark=10m -at 2026-05-01T09:00:00Z -v -numbers -horizon 1h -replacement 5m -respect-budgets
taints parse {gpu}={small}:NoExecute -f cluster.yaml -node {w2} -at 2026-05-01T09:00:00Z -kubectl -overwrite -numbers -v
taints parse {gpu}={small}:NoExecute -f cluster.yaml -node {w2} -o json
drain cluster.yaml -at-once 2 -disable-eviction -keep-local-storage -keep-unmanaged -none budgets -node {w0} -node {w1}
update graph graph.json -from 4.18.1 -to 4.19.3 -accept {SlowNames} -arch amd64 -channel {stable-4.19} -max 3 -prefer risks
update graph graph.json -from 4.18.1 -to 4.19.3 -avoid {SlowNames} -exposed {SlowNames} -facts facts.yaml
update graph graph.json -from 4.18.1 -to 4.19.3 -not-exposed {SlowNames} -prefer minors
update plan payload -feature-set {TechPreviewNoUpgrade} -gates {Gate} -major 4 -profile {self-managed-high-availability} -workers 2 -flatten -v
update status cluster.yaml -at 2026-05-01T09:00:00Z -v
update recommend cluster.yaml -accept {SlowNames} -at 2026-05-01T09:00:00Z -graph graph.json -v
update recommend cluster.yaml -o json
update diff payload next -feature-set {TechPreviewNoUpgrade} -gates {Gate} -major 4 -profile {self-managed-high-availability}
plan cluster.yaml -to 4.18.2 -at 2026-05-01T09:00:00Z -o sh
plan cluster.yaml -to 4.18.2 -none operators -none members -none apis -none gates -accept {SlowNames} -at 2026-05-01T09:00:00Z -o sh
plan cluster.yaml -out {w1} -at 2026-05-01T09:00:00Z -o sh
plan cluster.yaml -to 4.18.2 -at 2026-05-01T09:00:00Z -play -faults 1 -v
plan cluster.yaml -operator {shop}=2.0.0 -catalog old -keep {shop} -direct -least-disruption -at 2026-05-01T09:00:00Z
fleet . -operator {shop}=2.0.0 -catalog old -out {w1} -keep {shop} -accept {SlowNames} -none members -graph graph.json -at 2026-05-01T09:00:00Z
fleet . -to 4.18.2 -first {cluster} -at-once 1 -failures 1 -soak 1h -deadline 5h -direct -least-disruption -pause-workers
report cluster.yaml -to 4.18.2 -operator {shop}=2.0.0 -catalog old -graph graph.json -accept {SlowNames} -keep {shop} -none members -out {w1} -direct -least-disruption -pause-workers -v -o html
report cluster.yaml -o html -live -wasm fairlead.wasm
changes cluster.yaml cluster.yaml -at 2026-05-01T09:00:00Z
changes cluster.yaml graph.json -v
redact cluster.yaml -o shared -names names.json -at 2026-05-01T09:00:00Z -v
`

// withoutHostile are the verbs that read nothing that others wrote, or serve it.
var withoutHostile = []string{"config", "version", "completion", "update serve", "catalog serve"}

// withoutHostileFlags are the flags that are not called with hostile input: they name a server, or
// take a number, a time, a version, or one of a few words that others do not choose.
var withoutHostileFlags = strings.Fields("-context -kubeconfig -namespace -cluster -git -root -timeout -A")

// TestHostileVerbs checks that every verb is called with hostile input, with each of its flags and
// forms of output.
func TestHostileVerbs(t *testing.T) {
	each(nil, tool(), func(words []string, c *args.Command) {
		name := strings.Join(words, " ")
		if len(c.Commands) > 0 || slices.Contains(withoutHostile, name) {
			return
		}
		var calls strings.Builder
		for line := range strings.Lines(hostileCalls) {
			if strings.HasPrefix(line, name+" ") {
				calls.WriteString(strings.TrimSpace(line) + " ")
			}
		}
		if calls.Len() == 0 {
			t.Errorf("hostileCalls does not call %q", name)
			return
		}
		flags, _, _ := output(t, append(append([]string{"__complete"}, words...), "-")...)
		for flag := range strings.FieldsSeq(flags) {
			if !strings.Contains(calls.String(), " "+flag+" ") && !slices.Contains(withoutHostileFlags, flag) {
				t.Errorf("hostileCalls does not call %q with %s", name, flag)
			}
		}
		forms, _, _ := output(t, append(append([]string{"__complete"}, words...), "-o", "")...)
		for i, form := range strings.Fields(forms) {
			if form == "yaml" && strings.Contains(forms, "json") {
				continue // hostileRun prints YAML for JSON now and then
			}
			if i > 0 && !strings.Contains(calls.String(), " -o "+form+" ") {
				t.Errorf("hostileCalls does not call %q with -o %s", name, form)
			}
		}
	})
}
