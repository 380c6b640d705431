package main

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// clock notes when a verb says that the dump was made.
func (s said) clock(verb string, a answer) {
	if at := a.text("clock", "at"); at != "" {
		s.says(verb, "when the dump was made", at)
		s.says(verb, "how that is known", a.text("clock", "source"))
	}
}

// whats lists what is not known.
func whats(a answer) string {
	var all []string
	for _, g := range a.list("unknown") {
		all = append(all, g.text("what"))
	}
	return strings.Join(all, "; ")
}

// subject names what a view of an operator is about.
func (a answer) subject() string {
	return strings.ToLower(a.text("kind")) + " " + a.text("namespace") + "/" + a.text("name")
}

// blocked reports whether a view waits for something that does not pass by itself.
func (a answer) blocked() bool {
	for _, w := range a.list("waits") {
		if w["passing"] != true {
			return true
		}
	}
	return false
}

// agreeObjects asks about single objects of a dump: at most four of a kind, and about its difference from
// itself.
func agreeObjects(t *testing.T, in string, s said) {
	t.Helper()
	is := agreeRead(t, in)
	if is == nil {
		return
	}
	for i := range min(4, len(is.Subscriptions.Items)) {
		sub := &is.Subscriptions.Items[i]
		if a, status := agreeAsk(t, "explain subscription/"+sub.Name+" -n "+sub.Namespace, in); a != nil {
			s.says("explain", "subscription "+sub.Namespace+"/"+sub.Name+" is blocked", a.blocked())
			if status == 0 {
				s.says("explain, by its exit status", "subscription "+sub.Namespace+"/"+sub.Name+" is blocked", false)
			}
		}
	}
	for i := range min(4, len(is.Nodes.Items)) {
		agreeNodeIs(t, in, is.Nodes.Items[i].Name, s)
	}
	if a, _ := agreeAsk(t, "changes "+in, in); a != nil {
		if len(a.list("changes")) > 0 {
			t.Errorf("%s: differs from itself: %v", in, a["changes"])
		}
		s.says("changes", "when the dump was made", a.text("from", "at"))
	}
}

// agreeNodeIs asks what is wrong with a node.
func agreeNodeIs(t *testing.T, in, name string, s said) {
	t.Helper()
	a, status := agreeAsk(t, "explain node/"+name, in)
	if a == nil {
		return
	}
	s.clock("explain", a)
	wrong := false
	for _, n := range a.list("nodes") {
		if id := n.text("id"); n["state"] == "faulty" && (id == "node/"+name || strings.HasPrefix(id, "node/"+name+"#")) {
			s.says("explain", "what is wrong with "+id, n.text("reason"))
			wrong = true
		}
	}
	if status == 0 && (wrong || len(a.list("unknown")) > 0) {
		t.Errorf("%s: explain node/%s ends with 0, although %v", in, name, a)
	}
}

// agreeRead reads a dump; nil for the prefix of files.
func agreeRead(t *testing.T, in string) *snapshot.Snapshot {
	t.Helper()
	r := snapshot.Reader{}
	if !agreeInto(t, &r, in) {
		return nil
	}
	is, err := r.Snapshot()
	if err != nil {
		return nil
	}
	return is
}
