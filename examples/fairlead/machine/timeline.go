package machine

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// timeline is what happened in a simulation.
type timeline struct {
	Title   string    `json:"title"`
	Start   time.Time `json:"start"`
	Moments []moment  `json:"moments"` // in order
	Spans   []span    `json:"stages"`  // by machine, in the order in which they began
	Stuck   []string  `json:"stuck"`   // machines whose deletion has not finished, by name
}

// moment is one event.
type moment struct {
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`
	Machine string    `json:"machine,omitempty"`
	Text    string    `json:"text"`
}

// span is a stage of a deletion.
type span struct {
	Machine string          `json:"machine"`
	Stage   lifecycle.Stage `json:"stage"`
	From    time.Time       `json:"from"`
	To      time.Time       `json:"to"`
}

// tell adds a moment.
func (p *stage) tell(actor, machine, text string) {
	p.Moments = append(p.Moments, moment{p.clock.Now(), actor, machine, text})
}

// acted is called with each action on machines.
func (p *stage) acted(machine string, a lifecycle.Action) {
	text := ""
	switch a := a.(type) {
	case lifecycle.UpdateStatus:
		return // reported as conditions
	case lifecycle.RecordEvent:
		if a.Type != "Warning" {
			return
		}
		text = "warns: " + a.Message
	case drain.Cordon:
		text = "cordons node " + a.Node
	case drain.Evict:
		text = "evicts pod " + a.Namespace + "/" + a.Name
	case drain.DeletePod:
		text = "deletes pod " + a.Namespace + "/" + a.Name
	case lifecycle.RemoveHook:
		text = "removes hook " + a.Name + " of " + a.Owner + ": " + a.Why
	case lifecycle.DeleteInstance:
		text = "has the cloud delete the instance"
	case lifecycle.DeleteNode:
		text = "deletes node " + a.Name
	case lifecycle.RemoveFinalizer:
		text = "removes the finalizer; the machine is gone"
	default:
		text = a.String()
	}
	p.tell("machine controller", machine, text)
}

// guarded is called with each action on members of etcd.
func (p *stage) guarded(a quorum.Action) {
	text, machine := "", ""
	switch a := a.(type) {
	case quorum.SetHook:
		text, machine = "sets hook "+a.Hook.Name+" on "+a.Machine, a.Machine
	case quorum.RemoveHook:
		text, machine = "removes hook "+a.Hook.Name+" from "+a.Machine, a.Machine
	case quorum.AddLearner:
		text = "adds a member on node " + a.Node + " as a learner"
	case quorum.Promote:
		text = "promotes member " + a.Name + " to a voter"
	case quorum.RemoveMember:
		text = "removes member " + a.Name + ": " + a.Why
	default:
		text = a.String()
	}
	p.tell(quorum.HookOwner, machine, text)
}

// span records the stages that a machine has entered.
func (p *stage) span(machine string, began []lifecycle.Beginning) {
	known := 0
	last := -1
	for i := range p.Spans {
		if p.Spans[i].Machine == machine {
			known++
			last = i
		}
	}
	for _, b := range began[min(known, len(began)):] {
		if last >= 0 {
			p.Spans[last].To = b.At
		}
		last = len(p.Spans)
		p.Spans = append(p.Spans, span{machine, b.Stage, b.At, b.At})
	}
	if last >= 0 && p.cluster.Machine(machine) != nil {
		p.Spans[last].To = p.clock.Now()
	}
}

// finish records what is unfinished.
func (p *stage) finish() {
	for _, m := range p.cluster.List() {
		if m.Deleting() {
			p.Stuck = append(p.Stuck, m.String())
		}
	}
}

// text writes a line for each moment, and the stages.
func (t *timeline) text(w io.Writer) error {
	out := bufio.NewWriter(w)
	words.Fprintf(out, "%s, from %s\n\n", t.Title, t.Start.Format(time.RFC3339))
	actors := 0
	for _, m := range t.Moments {
		actors = max(actors, utf8.RuneCountInString(m.Actor))
	}
	at := ""
	for _, m := range t.Moments {
		now := "+" + m.At.Sub(t.Start).String()
		if now == at {
			now = ""
		} else {
			at = now
		}
		text := m.Text
		if m.Machine != "" && m.Machine != m.Actor && !strings.Contains(text, m.Machine) {
			text = m.Machine + ": " + text
		}
		page.Fold(out, fmt.Sprintf("%-9s %-*s  ", now, actors, m.Actor), text)
	}
	for _, name := range t.Stuck {
		words.Fprintf(out, "\nThe deletion of %s has not finished.\n", name)
	}
	return out.Flush()
}

// mermaid writes the stages of each machine as a Gantt chart.
func (t *timeline) mermaid(w io.Writer) error { return t.chart().WriteMermaid(w, t.Start) }

// svg draws a row for each machine, with a bar for each stage.
func (t *timeline) svg(w io.Writer) error { return t.chart().WriteSVG(w) }

// chart has a row for each machine, and a bar for each of its stages.
func (t *timeline) chart() *diagram.Gantt {
	g := &diagram.Gantt{Title: t.Title, Start: t.Start, Keys: []diagram.Key{
		{Label: "waits for a hook, or does not end", Marked: true}, {Label: "drains", Tone: 0}, {Label: "waits for volumes", Tone: 1}, {Label: "terminates", Tone: 7}, {Label: "other", Tone: 6},
	}}
	end := t.Start
	for _, m := range t.Moments {
		end = m.At
	}
	if len(t.Stuck) > 0 {
		g.Alarm = "does not end: the deletion of " + words.List(t.Stuck, "and", 3) + " has not finished"
		end = end.Add(max(end.Sub(t.Start)/10, time.Minute)) // what has not ended goes on
	}
	for _, name := range t.names() {
		row := diagram.Row{Label: name}
		for i, s := range t.Spans {
			last := !slices.ContainsFunc(t.Spans[i+1:], func(s span) bool { return s.Machine == name })
			stuck := last && slices.Contains(t.Stuck, name)
			if stuck {
				s.To = end
			}
			if s.Machine != name || s.Stage == lifecycle.StageDone || !s.To.After(s.From) {
				continue
			}
			tone, hook := tone(s.Stage)
			row.Bars = append(row.Bars, diagram.Bar{
				Start: s.From.Sub(t.Start), End: s.To.Sub(t.Start), Tone: tone, Marked: hook || stuck, Open: stuck, Label: name + " " + string(s.Stage), Text: string(s.Stage),
			})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// tone is the colour of a stage, and whether it waits for the owner of a hook.
func tone(s lifecycle.Stage) (tone int, hook bool) {
	switch s {
	case lifecycle.StagePreDrain, lifecycle.StagePreTerminate:
		return 0, true
	case lifecycle.StageDrain:
		return 0, false
	case lifecycle.StageVolumes:
		return 1, false
	case lifecycle.StageTerminate:
		return 7, false
	}
	return 6, false
}

// names returns the machines with stages, ordered by their first stage.
func (t *timeline) names() []string {
	var all []string
	seen := map[string]bool{}
	for _, s := range t.Spans {
		if !seen[s.Machine] {
			seen[s.Machine] = true
			all = append(all, s.Machine)
		}
	}
	return all
}
