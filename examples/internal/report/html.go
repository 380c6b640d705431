package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
)

//go:embed page.html
var pageHTML string

//go:embed compared.html
var comparedHTML string // a part of it, in answers

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

//go:embed live.js
var liveJS string // beside page.js, on live pages

//go:embed system.js
var systemJS string // in the worker of live pages

// section is a part of the page.
type section struct {
	ID, Name, Count string
}

// page is the input of the template.
type page struct {
	Title                         string
	Policy                        string
	Style                         template.CSS
	Script, Data                  template.JS
	Sections                      []section
	R                             *Report
	Timeline, Releases, Operators template.HTML // pictures, as those that follow
	Strips, Gauges, Waits, SoFar  template.HTML
	Live                          *live         // nil: no what-if
	First                         template.HTML // of an answer: the first screens before and after
}

// live is what a page needs to answer what-if questions.
type live struct {
	Script                template.JS   // of the page
	Choices               template.JS   // the changes that can be tried
	Compared              *compared     // in answers, the first screens; may be nil
	System, Engine, Input template.HTML // the script of the worker, and what it runs, as gzip in base64; empty in answers
}

// MaxLive is the size of the largest live page, in bytes.
const MaxLive = 10_000_000

// WriteLive writes a page that also answers what-if questions: it contains the engines,
// which are the program examples/internal/live built for WASI, and the input of the report.
// The policy of the page allows it to run them in a worker, but still to load nothing. The
// error is that of w, or reports that the page would be larger than MaxLive.
func (r *Report) WriteLive(w io.Writer, in *Input, engine []byte) error {
	e, err := embed(in)
	if err != nil {
		return err
	}
	input, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l := &live{System: template.HTML(systemJS)}
	if l.Engine, err = pack(engine); err != nil {
		return err
	}
	if l.Input, err = pack(input); err != nil {
		return err
	}
	choices, err := r.choices(in)
	if err != nil {
		return err
	}
	list, err := json.Marshal(choices)
	if err != nil {
		return err
	}
	l.Choices = template.JS(ascii(list))
	var b bytes.Buffer
	if err := r.write(&b, l); err != nil {
		return err
	}
	if b.Len() > MaxLive {
		return fmt.Errorf("the page would have %s bytes, %s of them the engines and %s the cluster with its catalog; a live page has at most %s: leave -live or -catalog out, or read fewer pods",
			number(b.Len()), number(len(l.Engine)), number(len(l.Input)), number(MaxLive))
	}
	_, err = w.Write(b.Bytes())
	return err
}

// pack compresses data and writes it as text.
func pack(data []byte) (template.HTML, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	return template.HTML(base64.StdEncoding.EncodeToString(b.Bytes())), err
}

// WriteHTML writes the report as a page: one file that loads nothing, and whose policy allows
// no loading and no script but its own. Equal reports give equal text. The error is that
// of w.
func (r *Report) WriteHTML(w io.Writer) error { return r.write(w, nil) }

func (r *Report) write(w io.Writer, live *live) error {
	data, err := json.Marshal(struct { // escapes what HTML reads
		*Report
		Diagnosis *drawn `json:"diagnosis,omitempty"`
	}{r, r.Diagnosis.drawn()})
	if err != nil {
		return err
	}
	shown := &Report{}
	if err := json.Unmarshal([]byte(words.Visible(string(data))), shown); err != nil {
		return err
	}
	style := pageCSS + diagram.Style
	p := &page{
		Title: shown.title(), Style: template.CSS(style), Script: template.JS(pageJS), Data: template.JS(ascii(data)),
		Policy:   "default-src 'none'; script-src '" + hash(pageJS) + "'" + live.policy() + "; style-src '" + hash(style) + "'; base-uri 'none'; form-action 'none'",
		Sections: r.sections(live != nil), R: shown, Live: live,
		Timeline: template.HTML(r.timeline), Releases: template.HTML(r.releases), Operators: template.HTML(r.operators),
		Strips: template.HTML(r.strips), Gauges: template.HTML(r.gauges), Waits: template.HTML(r.waits), SoFar: template.HTML(r.sofar),
	}
	if live != nil && live.Compared != nil {
		first, err := live.Compared.html()
		if err != nil {
			return err
		}
		p.First = template.HTML(first)
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"time":   func(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") },
		"span":   words.Span,
		"bar":    bar,
		"number": number,
		"names":  names,
		"count":  words.Count,
		"list":   func(l []string) string { return words.List(l, "and", 6) },
		"more": func(count int, items []Item) string {
			if count <= len(items) || len(items) == 0 {
				return ""
			}
			return number(count - len(items))
		},
		"rest": func(all, listed int) string {
			if all <= listed {
				return ""
			}
			return number(all - listed)
		},
		"tone": func(t Tone) string {
			return map[Tone]string{Bad: "error", Warning: "warning", Note: "note", Good: "good"}[t]
		},
		"applies": func(s fairlead.ConditionStatus) string {
			switch s {
			case fairlead.ConditionTrue:
				return "yes"
			case fairlead.ConditionFalse:
				return "no"
			}
			return "unknown"
		},
	}).Parse(pageHTML)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// html writes the comparison as a page has it.
func (c *compared) html() (string, error) {
	shown := &compared{}
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal([]byte(words.Visible(string(text))), shown)
	}
	if err != nil {
		return "", err
	}
	t, err := template.New("compared").Parse(comparedHTML)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, shown)
	return b.String(), err
}

// names writes a text in which names, such as those of nodes, are not broken where a line has room for them.
func names(text string) template.HTML {
	var b strings.Builder
	for i, word := range strings.Split(text, " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		if safe := template.HTMLEscapeString(word); strings.ContainsAny(word, "-./") && len(word) > 6 {
			b.WriteString(`<span class="w">` + safe + `</span>`)
		} else {
			b.WriteString(safe)
		}
	}
	return template.HTML(b.String())
}

// bar draws how far a part is: a border where that is not known.
func bar(b Bar) template.HTML {
	if b.Done < 0 {
		return `<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="unknown"><rect class="none" x=".5" y=".5" width="99" height="7" rx="2"/></svg>`
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="%d %%"><rect class="rest" x=".5" y=".5" width="99" height="7" rx="2"/><rect class="done" x=".5" y=".5" width="%.1f" height="7" rx="2"/></svg>`, b.Done, float64(b.Done)*.99))
}

// policy is what the policy of a live page allows in addition: the second script,
// WebAssembly, and a worker that the page creates.
func (l *live) policy() string {
	if l == nil {
		return ""
	}
	l.Script = template.JS(liveJS)
	return " '" + hash(liveJS) + "' 'wasm-unsafe-eval'; worker-src blob:"
}

// hash returns how a policy names a script or style that the page may contain.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// ascii writes hidden characters of JSON as escapes.
func ascii(data []byte) string {
	var b strings.Builder
	for _, r := range string(data) {
		if words.Hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// sections lists the parts of the page that are not empty.
func (r *Report) sections(live bool) []section {
	all := []section{{ID: "top", Name: "Overview"}}
	add := func(is bool, id, name string, count int) {
		if !is {
			return
		}
		s := section{ID: id, Name: name}
		if count > 0 {
			s.Count = number(count)
		}
		all = append(all, s)
	}
	add(live, "whatif", "What if", 0)
	add(len(r.First) > 0, "first", "Do this first", len(r.First))
	if d := r.Diagnosis; d != nil {
		add(r.waits != "" || r.sofar != "" || len(d.Do) > 0, "waits", "What waits", len(d.Do))
	}
	add(len(r.Findings) > 0, "findings", "Findings", len(r.Findings))
	if r.Plan != nil {
		add(true, "plan", "Plan", len(r.Plan.Steps))
	}
	add(r.Update != nil, "update", "Updates", 0)
	add(len(r.Operators) > 0, "operators", "Operators", len(r.Operators))
	if r.Nodes != nil {
		add(true, "nodes", "Nodes", len(r.Nodes.Name))
	}
	if m := r.Machines; m != nil {
		add(true, "machines", "Machines", m.Deleting)
	}
	if r.Workloads != nil {
		add(true, "workloads", "Workloads", len(r.Workloads.Name))
	}
	if b := r.Budgets; b != nil {
		add(true, "budgets", "Budgets", len(b.Name))
	}
	add(len(r.Taints) > 0, "taints", "Taints", len(r.Taints))
	add(len(r.Gaps) > 0, "gaps", "Unknown", len(r.Gaps))
	return all
}
