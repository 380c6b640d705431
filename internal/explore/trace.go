package explore

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Script returns a violation as a block of a script of package golden, for a
// handler that gives its input to Replay.
func (v *Violation) Script(model string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Found by exploring: %s.\n", v.Rule)
	if v.Loop > 0 {
		fmt.Fprintf(&b, "# The last %d moves return to where they began.\n", v.Loop)
	}
	fmt.Fprintf(&b, "replay model=%s world=%d\n%s\n----\n", model, v.World, strings.Join(v.Trace, "\n"))
	return b.String()
}

// Replay makes the moves of a trace, one per line, from one of the model's worlds,
// and returns what happens at each. It ends at a move that is not possible, and at
// a state that breaks a rule. It cannot show violations of liveness, which only a
// visit of all states finds.
func Replay[W, S, A any](m *Model[W, S, A], world int, trace string) string {
	var b strings.Builder
	if world < 0 || world >= len(m.Worlds) {
		return fmt.Sprintf("there is no world %d\n", world)
	}
	c := m.start(world)
	for line := range strings.Lines(trace) {
		name := strings.TrimSpace(line)
		if name == "" {
			continue
		}
		n := m.clone(c)
		if !m.make(n, name) {
			fmt.Fprintf(&b, "%s: cannot happen here\n", name)
			return b.String()
		}
		m.write(&b, name, c, n)
		if err := m.judge(n); err != nil {
			fmt.Fprintf(&b, "broken: %v\n", err)
			return b.String()
		}
		c = n
	}
	if m.Rest(c.world) {
		b.WriteString("nothing is owed\n")
	}
	return b.String()
}

// make makes the move with a name, and reports whether it was possible.
func (m *Model[W, S, A]) make(c *config[W, S, A], name string) bool {
	for _, e := range m.edges(c) {
		if e.name == name {
			e.do(c)
			return true
		}
	}
	return false
}

// write writes what a move did.
func (m *Model[W, S, A]) write(b *strings.Builder, name string, was, is *config[W, S, A]) {
	b.WriteString(name)
	switch {
	case was.now != is.now:
		fmt.Fprintf(b, " %v", is.now.Sub(was.now))
	case strings.HasSuffix(name, "apply"), strings.HasSuffix(name, "lost"), strings.HasSuffix(name, "fail"):
		f := was.flights[strings.Count(name, "second ")]
		fmt.Fprintf(b, " %s", text(f.Decision.Actions[f.Done]))
	}
	b.WriteByte('\n')
	if is.last == was.last || is.last == nil {
		return
	}
	for _, a := range is.last.Actions {
		fmt.Fprintf(b, "  to do: %s\n", text(a))
	}
	for _, blocked := range is.last.Blocked {
		fmt.Fprintf(b, "  blocked: %s: %s\n", blocked.Subject, blocked.Message)
	}
	if !is.last.Wake.IsZero() {
		fmt.Fprintf(b, "  wake in %v\n", is.last.Wake.Sub(is.now.Add(is.offset)))
	}
}

// World reads the number of a world as Script writes it; -1 if it is not a
// number.
func World(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// Copy returns a deep copy of a value by way of JSON, for worlds whose JSON is
// complete.
func Copy[T any](v *T) *T {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		panic(err)
	}
	return out
}
