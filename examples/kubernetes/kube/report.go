package kube

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// Events reports, by events on an object, what an engine waits for and what
// failed: one event per wait, not repeated while it lasts. Its Report method
// is the Report of a [Reconciler]. It may be called from several goroutines.
type Events struct {
	// Recorder is that of the manager: mgr.GetEventRecorder(name).
	Recorder events.EventRecorder
	// Object returns the object with a name, for which the events are recorded.
	// If it returns nil, nothing is reported.
	Object func(ctx context.Context, name string) runtime.Object
	// Action is what the engine does to objects, in one word: "Drain", "Evict".
	Action string
	// Most limits how many waits of one pass are reported, the first ones. Zero
	// means 10.
	Most int
	// Patience is how long a wait must have lasted to be reported: most end by
	// themselves in a moment. Failures are reported at once.
	Patience time.Duration

	mu    sync.Mutex
	notes map[string][]note // of the last pass, by name
}

// Report records events for whatever is new.
func (e *Events) Report(ctx context.Context, name string, p fairlead.Pass) {
	most := e.Most
	if most <= 0 {
		most = 10
	}
	p.Blocked = p.Blocked[:min(len(p.Blocked), most)]
	if e.remember(name, notesOf(p)) {
		ctx := context.WithoutCancel(ctx)
		time.AfterFunc(e.Patience, func() { e.tell(ctx, name) })
	}
	e.tell(ctx, name)
}

// remember keeps the notes of the last pass over an object, and since when each
// applies. It reports whether there are waits to report later.
func (e *Events) remember(name string, notes []note) (later bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(notes) == 0 {
		delete(e.notes, name)
		return false
	}
	for i := range notes {
		n := &notes[i]
		n.since = time.Now()
		if at := slices.IndexFunc(e.notes[name], n.same); at >= 0 {
			n.since, n.told = e.notes[name][at].since, e.notes[name][at].told
		} else {
			later = later || n.kind == corev1.EventTypeNormal && e.Patience > 0
		}
	}
	if e.notes == nil {
		e.notes = map[string][]note{}
	}
	e.notes[name] = notes
	return later
}

// tell records the events that are due for the last pass over an object.
func (e *Events) tell(ctx context.Context, name string) {
	var due []note
	e.mu.Lock()
	for i := range e.notes[name] {
		n := &e.notes[name][i]
		if !n.told && (n.kind != corev1.EventTypeNormal || time.Since(n.since) >= e.Patience) {
			n.told = true
			due = append(due, *n)
		}
	}
	e.mu.Unlock()
	if len(due) == 0 {
		return
	}
	object := e.Object(ctx, name)
	if object == nil {
		e.remember(name, nil) // the next pass may have an object
		return
	}
	for _, n := range due {
		e.Recorder.Eventf(object, nil, n.kind, n.reason, e.Action, "%s", n.text)
	}
}

// note is something to report.
type note struct {
	kind, reason, subject, text string
	since                       time.Time
	told                        bool
}

// same reports whether two notes are about the same wait or failure. The text
// of a wait contains numbers that change; the text of a failure identifies
// it.
func (n note) same(o note) bool {
	return n.kind == o.kind && n.reason == o.reason && n.subject == o.subject && (n.kind == corev1.EventTypeNormal || n.text == o.text)
}

func notesOf(p fairlead.Pass) []note {
	var out []note
	for _, b := range p.Blocked {
		n := note{kind: corev1.EventTypeNormal, reason: b.Reason, subject: b.Subject, text: Sentence(b)}
		if !slices.ContainsFunc(out, n.same) {
			out = append(out, n)
		}
	}
	if p.Err != nil {
		out = append(out, note{kind: corev1.EventTypeWarning, reason: "PassFailed", text: shorten(p.Err.Error(), mostBytes)})
	}
	return out
}

// mostBytes limits the note of an event.
const mostBytes = 1024

// Sentence returns the text of an event or a condition for a wait: what it
// waits for, who can end it, and how. It has at most 1,024 bytes, the limit
// of events.
func Sentence(b fairlead.Block) string {
	var s strings.Builder
	if b.Subject != "" {
		s.WriteString(b.Subject + ": ")
	}
	s.WriteString(b.Message)
	if b.Owner != "" {
		s.WriteString(" (owner " + b.Owner + ")")
	}
	if b.Unblock != "" {
		s.WriteString("; to unblock: " + b.Unblock)
	}
	return shorten(s.String(), mostBytes)
}

// shorten cuts a text to at most n bytes, between characters.
func shorten(s string, n int) string {
	const cut = "..."
	if len(s) <= n {
		return s
	}
	end := n - len(cut)
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end] + cut
}
