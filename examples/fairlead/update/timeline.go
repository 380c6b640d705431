package update

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
)

// timeline is what happened in a simulation.
type timeline struct {
	Title      string    `json:"title"`
	From       string    `json:"from"`
	To         string    `json:"to"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`                  // the last event
	Moments    []moment  `json:"moments"`              // in order
	Spans      []span    `json:"spans"`                // in the order in which they began
	Unfinished []string  `json:"unfinished,omitempty"` // what is unfinished, and why

	blocked []fairlead.Block // of the last instant
}

// moment is one event.
type moment struct {
	At      time.Time `json:"at"`
	Subject string    `json:"subject"` // who does it, or to whom it happens
	Text    string    `json:"text"`
}

// span is something that a subject does for some time.
type span struct {
	Subject string    `json:"subject"`
	What    string    `json:"what"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Tasks   int       `json:"tasks,omitempty"` // manifests of a runlevel that were applied
	Open    bool      `json:"open,omitempty"`  // it has not ended: To is when nothing more happened
	open    bool
}

// tell adds a moment.
func (p *play) tell(subject, text string) {
	p.Moments = append(p.Moments, moment{p.clock.Now(), subject, text})
}

// open begins a span, and ends what the subject did before.
func (p *play) open(subject, what string) {
	p.end(subject)
	now := p.clock.Now()
	p.Spans = append(p.Spans, span{Subject: subject, What: what, From: now, To: now, open: true})
}

// opened returns when the first span of a subject began.
func (p *play) opened(subject string) time.Time {
	for _, s := range p.Spans {
		if s.Subject == subject {
			return s.From
		}
	}
	return p.clock.Now()
}

// end ends the span of a subject.
func (p *play) end(subject string) {
	for i := range p.Spans {
		if s := &p.Spans[i]; s.Subject == subject && s.open {
			s.To, s.open = p.clock.Now(), false
		}
	}
}

// isOpen reports whether a subject is busy.
func (p *play) isOpen(subject string) bool {
	return slices.ContainsFunc(p.Spans, func(s span) bool { return s.Subject == subject && s.open })
}

// manifest records a manifest of a runlevel, which ends the runlevel before.
func (p *play) manifest(level string) {
	for i := range p.Spans {
		if s := &p.Spans[i]; s.Subject == level {
			s.Tasks++
			return
		}
	}
	p.endLevel()
	p.tell(level, "begins")
	p.open(level, "applies")
	p.Spans[len(p.Spans)-1].Tasks = 1
}

// endLevel ends the span of the runlevel that is applied.
func (p *play) endLevel() {
	for _, s := range p.Spans {
		if s.open && strings.HasPrefix(s.Subject, "runlevel ") {
			p.end(s.Subject)
		}
	}
}

// finish ends all spans, and records what is unfinished.
func (p *play) finish() {
	p.End = p.Moments[len(p.Moments)-1].At
	if !p.completed() {
		p.Unfinished = append(p.Unfinished, "the cluster is not at release "+p.To)
	}
	for _, q := range p.pools {
		switch updated := p.updated(&q); {
		case !p.begun:
			p.Unfinished = append(p.Unfinished, fmt.Sprintf("pool %s: it was not asked to update to %s, because operator %s was not", q.name, p.To, machineConfig))
		case updated < len(q.nodes):
			p.Unfinished = append(p.Unfinished, fmt.Sprintf("pool %s: %d of %d nodes are updated", q.name, updated, len(q.nodes)))
		}
	}
	for _, s := range p.Spans {
		if node, ok := strings.CutPrefix(s.Subject, "agent of "); ok && s.open {
			p.Unfinished = append(p.Unfinished, fmt.Sprintf("node %s: it has been %s since +%s; bring it back, or take it out of the cluster", node, s.What, s.From.Sub(p.Start)))
		}
	}
	if len(p.Unfinished) > 0 {
		for _, b := range p.blocked {
			p.Unfinished = append(p.Unfinished, b.Subject+": "+waitText(&b))
		}
	}
	for i := range p.Spans {
		if s := &p.Spans[i]; s.open {
			s.To, s.Open = p.End, true
		}
	}
}

// text writes a line for each moment.
func (t *timeline) text(w io.Writer) error {
	out := bufio.NewWriter(w)
	words.Fprintf(out, "%s: %s to %s, from %s\n\n", t.Title, t.From, t.To, t.Start.Format(time.RFC3339))
	subjects := 0
	for _, m := range t.Moments {
		subjects = min(max(subjects, utf8.RuneCountInString(m.Subject)), 40)
	}
	last := ""
	for _, m := range t.Moments {
		now := "+" + m.At.Sub(t.Start).String()
		if now == last {
			now = ""
		} else {
			last = now
		}
		page.Fold(out, fmt.Sprintf("%-10s %-*s  ", now, subjects, m.Subject), m.Text)
	}
	if len(t.Unfinished) == 0 {
		words.Fprintf(out, "\nEverything is at %s after %s.\n", t.To, t.End.Sub(t.Start))
		return out.Flush()
	}
	words.Fprintf(out, "\nNothing more happens after %s, and this is not finished:\n", t.End.Sub(t.Start))
	for _, u := range t.Unfinished {
		page.Fold(out, "  ", u)
	}
	return out.Flush()
}

func (t *timeline) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(t)
}

func (t *timeline) svg(w io.Writer) error { return t.chart().WriteSVG(w) }

func (t *timeline) mermaid(w io.Writer) error { return t.chart().WriteMermaid(w, t.Start) }

// busy are the activities without trouble; each has a colour.
func busy() []string {
	return []string{"applies", "updates", "drains", "changes", "tolerates", "terminates"}
}

// chart has a row for each runlevel, operator, node and pod, in the order in
// which they began.
func (t *timeline) chart() *diagram.Gantt {
	g := &diagram.Gantt{Title: fmt.Sprintf("%s: %s to %s", t.Title, t.From, t.To), Start: t.Start}
	if len(t.Unfinished) > 0 {
		g.Alarm = "does not end: " + t.Unfinished[0]
		if more := len(t.Unfinished) - 1; more > 0 {
			g.Alarm += fmt.Sprintf(" (and %d more)", more)
		}
	}
	rows, seen, trouble := map[string]int{}, map[string]bool{}, false
	for _, s := range t.Spans {
		i, known := rows[s.Subject]
		if !known {
			i = len(g.Rows)
			rows[s.Subject] = i
			g.Rows = append(g.Rows, diagram.Row{Label: s.Subject})
		}
		tone := slices.Index(busy(), s.What)
		seen[s.What], trouble = true, trouble || tone < 0
		g.Rows[i].Bars = append(g.Rows[i].Bars, diagram.Bar{
			Start: s.From.Sub(t.Start), End: s.To.Sub(t.Start), Tone: max(tone, 0), Marked: tone < 0, Open: s.Open, Label: s.Subject + " " + s.What, Text: s.What,
		})
	}
	for i, what := range busy() {
		if seen[what] {
			g.Keys = append(g.Keys, diagram.Key{Tone: i, Label: what})
		}
	}
	if trouble {
		g.Keys = append(g.Keys, diagram.Key{Marked: true, Label: "in trouble"})
	}
	return g
}
