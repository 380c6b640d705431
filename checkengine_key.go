package fairlead

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// sum is a hash.
type sum [16]byte

// form is a text of JSON as it is compared.
type form struct {
	sum   sum     // with times relative to the present of a state, and all old ones alike
	exact sum     // with the old ones as well
	old   []int64 // the old times in it, in nanoseconds since 1970
}

// key returns a hash of everything that distinguishes states. What a move does not
// change keeps the hash that it has.
func (v *visitor[S, W, A]) key(c *place[S, W, A]) (sum, error) {
	if c.shown == nil {
		text, err := json.Marshal(c.trial)
		if err != nil {
			return sum{}, fmt.Errorf("the trial cannot be written as JSON: %w", err)
		}
		c.shown = v.form(text, c)
	}
	if c.kept == nil {
		c.kept = v.form(c.saved, c)
	}
	if c.heard == nil {
		var text []byte
		if len(c.known[0])+len(c.known[1]) > 0 {
			text, _ = json.Marshal(c.known) // strings, numbers and times
		}
		c.heard = v.form(text, c)
	}
	var space [256]byte
	b := append(append(append(space[:0], c.shown.sum[:]...), c.kept.sum[:]...), c.heard.sum[:]...)
	numbers := func(all ...int64) {
		for _, n := range all {
			b = binary.AppendVarint(b, n)
		}
	}
	flag := map[bool]int64{true: 1}
	wake := int64(-1)
	if !c.wake.IsZero() {
		wake = max(0, int64(c.wake.Sub(c.now.Add(c.offset))))
	}
	numbers(int64(c.offset), int64(c.quiet), wake, flag[c.dirty], flag[c.blocked])
	numbers(int64(c.left.Crash), int64(c.left.Lost), int64(c.left.Fail), int64(c.left.Late), int64(c.left.Second), int64(c.left.Back))
	for _, f := range c.flights {
		if numbers(flag[f == nil]); f != nil {
			numbers(flag[f.saved], int64(f.done))
			b = append(b, f.sums[f.done][:]...)
		}
	}
	return short(v.order(b, c)), nil
}

// order appends the order of the old times of a state, and which of them are equal: they
// may be compared with each other, or serve as a mark, long after their age no longer
// matters.
func (v *visitor[S, W, A]) order(b []byte, c *place[S, W, A]) []byte {
	all := append(append(append(v.times[:0], c.shown.old...), c.kept.old...), c.heard.old...)
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
	v.times = all
	return b
}

// short returns the beginning of a hash.
func short(b []byte) sum {
	all := sha256.Sum256(b)
	return sum(all[:16])
}

// form returns the form of a JSON text.
func (v *visitor[S, W, A]) form(text []byte, c *place[S, W, A]) *form {
	v.old = v.old[:0]
	v.space = v.relative(v.space[:0], text, c)
	f := &form{sum: short(v.space)}
	f.exact = f.sum
	if len(v.old) > 0 {
		f.old = slices.Clone(v.old)
		for _, t := range f.old {
			v.space = binary.AppendVarint(v.space, t)
		}
		f.exact = short(v.space)
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
func (v *visitor[S, W, A]) relative(to, text []byte, c *place[S, W, A]) []byte {
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
		ago := max(c.now.Sub(t), -v.options.Horizon-back)
		switch own := ago + c.offset; {
		case ago <= v.options.Horizon:
			to = strconv.AppendInt(append(to, '@'), int64(ago), 10)
		case own <= v.options.Horizon:
			to = strconv.AppendInt(append(to, '~'), int64(own), 10)
		default:
			to = append(to, "old"...)
			v.old = append(v.old, t.UnixNano())
		}
		text = text[end+1:]
	}
}

// newFlight returns the flight of a decision.
func (v *visitor[S, W, A]) newFlight(c *place[S, W, A], d *Decision[S, A]) (*flight[S, A], error) {
	f := &flight[S, A]{read: c.saved, decision: d, sums: make([]sum, len(d.Actions)+1)}
	if over := v.engine.Done != nil && v.engine.Done(d.State) && len(d.Actions) == 0; !over {
		var err error
		if f.state, err = json.Marshal(d.State); err != nil {
			return nil, fmt.Errorf("the state cannot be written as JSON: %w", err)
		}
		if len(f.state) > v.maxState {
			return nil, fmt.Errorf("a state has %d bytes, and may have %d", len(f.state), v.maxState)
		}
	}
	f.kept = v.form(f.state, c)
	v.old = v.old[:0]
	b := v.relative(v.space[:0], f.read, c)
	b = v.relative(append(b, '\n'), f.state, c)
	if b = append(b, '\n'); !d.Wake.IsZero() {
		b = append(b, d.Wake.Sub(c.now).String()...)
	}
	f.sums[len(d.Actions)] = short(b)
	for i := len(d.Actions) - 1; i >= 0; i-- {
		action, err := json.Marshal(d.Actions[i])
		if err != nil {
			return nil, fmt.Errorf("action %s cannot be written as JSON: %w", d.Actions[i], err)
		}
		b = append(append(b[:0], f.sums[i+1][:]...), fmt.Sprintf(" %T", d.Actions[i])...)
		b = v.relative(b, action, c)
		f.sums[i] = short(b)
	}
	v.space = b
	if len(v.old) > 0 {
		f.old = slices.Clone(v.old)
	}
	return f, nil
}
