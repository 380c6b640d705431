package explore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// config is one state of the exploration: the world, what is saved, and the
// runners at work.
type config[W, S, A any] struct {
	world   W      // shared with other states until own is called
	shown   *form  // of the world's JSON; nil if unknown
	mine    bool   // the world is this state's own
	saved   []byte // the engine's state; nil before the first save
	kept    *form  // of the saved state; nil if unknown
	now     time.Time
	offset  time.Duration // of the runner's clock
	wake    time.Time     // by the runner's clock; zero without one
	dirty   bool          // something has happened that the runner has not observed
	blocked bool          // the last decision says what would end this
	flights [2]*flight[S, A]
	quiet   time.Duration   // how long only observations have happened, up to Patience and a second
	last    *Decision[S, A] // nil before the first
	left    Faults
	spoiled error // the rule that a move broke
}

// sum is a hash.
type sum [16]byte

// form is a text of JSON as it is compared.
type form struct {
	sum   sum     // with times relative to the present of a state, and all old ones alike
	exact sum     // with the old ones as well
	old   []int64 // the old times in it, in nanoseconds since 1970
}

// flight is a decision that is being carried out. No time passes meanwhile.
type flight[S, A any] struct {
	Saved    bool
	Read     []byte // the saved state that it was decided on
	Decision *Decision[S, A]
	Done     int     // actions that were sent
	State    []byte  // the decision's state as JSON
	Kept     *form   // of State
	Sums     []sum   // of the decision with its remaining actions, by Done
	old      []int64 // the old times in all of it
}

// text returns the text of an action: that of its String method, or else its
// type and its JSON.
func text[A any](a A) string {
	if s, ok := any(a).(fmt.Stringer); ok {
		return s.String()
	}
	name := fmt.Sprintf("%T", a)
	data, err := json.Marshal(a)
	if err != nil {
		return name
	}
	return name[strings.LastIndexByte(name, '.')+1:] + " " + string(data)
}

// key returns a hash of everything that distinguishes states. What a move does not
// change keeps the hash that it has.
func (m *Model[W, S, A]) key(c *config[W, S, A]) (sum, error) {
	if c.shown == nil {
		text, err := json.Marshal(c.world)
		if err != nil {
			return sum{}, fmt.Errorf("the world cannot be encoded as JSON: %w", err)
		}
		c.shown = m.form(text, c)
	}
	if c.kept == nil {
		c.kept = m.form(c.saved, c)
	}
	var space [256]byte
	b := append(append(space[:0], c.shown.sum[:]...), c.kept.sum[:]...)
	number := func(n time.Duration) { b = binary.AppendVarint(b, int64(n)) }
	flag := func(is bool) {
		if is {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	number(c.offset)
	number(c.quiet)
	if flag(c.wake.IsZero()); !c.wake.IsZero() {
		number(c.wake.Sub(c.now.Add(c.offset)))
	}
	flag(c.dirty)
	flag(c.blocked)
	for _, n := range [...]int{c.left.Crash, c.left.Lost, c.left.Fail, c.left.Late, c.left.Second, c.left.Back} {
		number(time.Duration(n))
	}
	for _, f := range c.flights {
		if flag(f == nil); f != nil {
			flag(f.Saved)
			number(time.Duration(f.Done))
			b = append(b, f.Sums[f.Done][:]...)
		}
	}
	return short(m.order(b, c)), nil
}

// order appends the order of the old times of a state, and which of them are equal: they
// may be compared with each other, or serve as a mark, long after their age no longer
// matters.
func (m *Model[W, S, A]) order(b []byte, c *config[W, S, A]) []byte {
	all := append(append(m.times[:0], c.shown.old...), c.kept.old...)
	for _, f := range c.flights {
		if f != nil {
			all = append(all, f.old...)
		}
	}
	if len(all) > 1 {
		n := len(all)
		all = append(all, all...)
		ranks := all[n:]
		slices.Sort(ranks)
		ranks = slices.Compact(ranks)
		for _, t := range all[:n] {
			at, _ := slices.BinarySearch(ranks, t)
			b = binary.AppendVarint(b, int64(at))
		}
	}
	m.times = all
	return b
}

// short returns the beginning of a hash.
func short(b []byte) sum {
	all := sha256.Sum256(b)
	return sum(all[:16])
}

// form returns the form of a JSON text.
func (m *Model[W, S, A]) form(text []byte, c *config[W, S, A]) *form {
	m.old = m.old[:0]
	m.space = m.relative(m.space[:0], text, c)
	f := &form{sum: short(m.space)}
	f.exact = f.sum
	if len(m.old) > 0 {
		f.old = slices.Clone(m.old)
		for _, t := range f.old {
			m.space = binary.AppendVarint(m.space, t)
		}
		f.exact = short(m.space)
	}
	return f
}

// manyAttempts is the number up to which attempts are counted: after that, the
// time between them no longer grows.
const manyAttempts = 8

var attempts = []byte(`"attempts":`)

// relative appends JSON with each time in it replaced by its distance from now, cut off
// at the horizon. Times that the runner writes may be relative to its own clock, which
// may have been set back further than that.
func (m *Model[W, S, A]) relative(to, text []byte, c *config[W, S, A]) []byte {
	const shortest = len(`2026-03-01T12:00:00Z"`)
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(to, text...)
		}
		to = append(to, text[:i]...)
		text = text[i:]
		if rest, ok := bytes.CutPrefix(text, attempts); ok {
			n := 0
			for len(rest) > n && rest[n] >= '0' && rest[n] <= '9' {
				n++
			}
			count, _ := strconv.Atoi(string(rest[:n]))
			to = strconv.AppendInt(append(to, attempts...), int64(min(count, manyAttempts)), 10)
			text = rest[n:]
			continue
		}
		if len(text) <= shortest || text[1] < '0' || text[1] > '9' || text[5] != '-' || text[11] != 'T' {
			to, text = append(to, '"'), text[1:]
			continue
		}
		end := 1 + bytes.IndexByte(text[1:], '"')
		t, err := time.Parse(time.RFC3339Nano, string(text[1:max(1, end)]))
		if err != nil {
			to, text = append(to, '"'), text[1:]
			continue
		}
		ago := max(c.now.Sub(t), -m.horizon()-back)
		switch own := ago + c.offset; {
		case ago <= m.horizon():
			to = strconv.AppendInt(append(to, '@'), int64(ago), 10)
		case own <= m.horizon():
			to = strconv.AppendInt(append(to, '~'), int64(own), 10)
		default:
			to = append(to, "old"...)
			m.old = append(m.old, t.UnixNano())
		}
		text = text[end+1:]
	}
}

// newFlight returns the flight of a decision.
func (m *Model[W, S, A]) newFlight(c *config[W, S, A], d *Decision[S, A]) (*flight[S, A], error) {
	f := &flight[S, A]{Read: c.saved, Decision: d, Sums: make([]sum, len(d.Actions)+1)}
	var err error
	if f.State, err = json.Marshal(d.State); err != nil {
		return nil, fmt.Errorf("the state cannot be written: %w", err)
	}
	f.Kept = m.form(f.State, c)
	m.old = m.old[:0]
	b := m.relative(m.space[:0], f.Read, c)
	b = m.relative(append(b, '\n'), f.State, c)
	if b = append(b, '\n'); !d.Wake.IsZero() {
		b = append(b, d.Wake.Sub(c.now).String()...)
	}
	f.Sums[len(d.Actions)] = short(b)
	for i := len(d.Actions) - 1; i >= 0; i-- {
		a := d.Actions[i]
		action, err := json.Marshal(a)
		if err != nil {
			return nil, fmt.Errorf("action %s cannot be encoded as JSON: %w", text(a), err)
		}
		b = append(append(b[:0], f.Sums[i+1][:]...), fmt.Sprintf(" %T", a)...)
		b = m.relative(b, action, c)
		f.Sums[i] = short(b)
	}
	m.space = b
	if len(m.old) > 0 {
		f.old = slices.Clone(m.old)
	}
	return f, nil
}

// own returns the world of a state, as a copy that may be changed.
func (m *Model[W, S, A]) own(c *config[W, S, A]) W {
	if !c.mine {
		c.world, c.mine = m.Clone(c.world), true
	}
	c.shown = nil
	return c.world
}

// clone returns a copy, which shares the world.
func (m *Model[W, S, A]) clone(c *config[W, S, A]) *config[W, S, A] {
	n := *c
	n.mine = false
	for i, f := range c.flights {
		if f != nil {
			g := *f
			n.flights[i] = &g
		}
	}
	return &n
}

// idle reports whether no decision is being carried out.
func (c *config[W, S, A]) idle() bool { return c.flights[0] == nil && c.flights[1] == nil }

// state returns the engine's saved state, which is decoded once and shared, and must not
// be changed.
func (m *Model[W, S, A]) state(c *config[W, S, A]) (s S, err error) {
	if c.saved == nil {
		return s, nil
	}
	if s, ok := m.reads[&c.saved[0]]; ok {
		return s, nil
	}
	if err := json.Unmarshal(c.saved, &s); err != nil {
		return s, err
	}
	if m.reads != nil {
		m.reads[&c.saved[0]] = s
	}
	return s, nil
}
