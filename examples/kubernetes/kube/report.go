package kube

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// Events tells the users of an object, by events on it, what an engine waits
// for and what failed: one event when a wait begins, and none while it lasts.
// Its Report is a [Reconciler]'s. It may be called from several goroutines.
type Events struct {
	// Recorder is a manager's: mgr.GetEventRecorder(name).
	Recorder events.EventRecorder
	// Object returns the object of a name, which the events are put on; nil when
	// there is none, and then nothing is reported.
	Object func(ctx context.Context, name string) runtime.Object
	// Action is what the engine does to objects, in a word: "Drain", "Evict".
	Action string
	// Most is how many waits of one pass are reported, the first ones. Zero means 10.
	Most int

	mu   sync.Mutex
	told map[string][]note // by name: what the last pass told
}

// Report tells what is new.
func (e *Events) Report(ctx context.Context, name string, p fairlead.Pass) {
	most := e.Most
	if most <= 0 {
		most = 10
	}
	p.Blocked = p.Blocked[:min(len(p.Blocked), most)]
	news := e.news(name, notesOf(p))
	if len(news) == 0 {
		return
	}
	object := e.Object(ctx, name)
	if object == nil {
		e.forget(name) // there may be one for the next pass
		return
	}
	for _, n := range news {
		e.Recorder.Eventf(object, nil, n.kind, n.reason, e.Action, "%s", n.text)
	}
}

// news returns what was not told after the last pass, and remembers what is now.
func (e *Events) news(name string, now []note) []note {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.told[name]
	if len(now) == 0 {
		delete(e.told, name)
		return nil
	}
	if e.told == nil {
		e.told = map[string][]note{}
	}
	e.told[name] = now
	return slices.DeleteFunc(slices.Clone(now), func(n note) bool {
		return slices.ContainsFunc(before, n.same)
	})
}

// forget makes all news again.
func (e *Events) forget(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.told, name)
}

// note is one thing to tell.
type note struct {
	kind, reason, subject, text string
}

// same reports whether two notes tell of one thing. The text of a wait tells
// numbers that change; that of a failure is the failure.
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

// mostBytes is what the note of an event may have.
const mostBytes = 1024

// Sentence is what an event or a condition says of a wait: what, who can end
// it, and the way out. It has at most 1,024 bytes, as events demand.
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
