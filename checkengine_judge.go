package fairlead

import (
	"encoding/json"
	"time"
)

// judge makes a decision twice, and checks the rules of Step.
func (p *play[S, W, A]) judge(decide func(S, W, time.Time) Decision[S, A], state S, world W, now time.Time) Decision[S, A] {
	before := p.encode("the arguments of Step", []any{state, world})
	d := decide(state, world, now)
	first := p.encode("a decision", d)
	if after := p.encode("the arguments of Step", []any{state, world}); after != before {
		p.breaks("Step changes its arguments:\n%s\nbecame\n%s", before, after)
	}
	if second := p.encode("a decision", decide(state, world, now)); second != first {
		p.breaks("Step is not pure: equal arguments gave\n%s\nand\n%s", first, second)
	}
	text := p.encode("a state", d.State)
	if len(text) > p.options.MaxState {
		if stored, err := seal(1, "a", []byte(`{"state":`+text+`}`)); err != nil || len(stored) > p.options.MaxState {
			p.breaks("a state has %d bytes, %d of them when it is stored, and may have %d", len(text), len(stored), p.options.MaxState)
		}
	}
	p.last = step[S, W]{d.State, world}
	if _, ok := any(state).(interface{ Kinds() []A }); ok {
		var back Decision[S, A]
		p.decode(first, &back, "a decision")
	} else {
		var saved S
		p.decode(text, &saved, "a state")
	}
	return d
}

func (p *play[S, W, A]) encode(what string, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		p.breaks("%s cannot be written as JSON: %w", what, err)
	}
	return string(data)
}

func (p *play[S, W, A]) decode(text string, into any, what string) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		p.breaks("%s cannot be read from its JSON: %w\n%s", what, err, text)
	} else if again := p.encode(what, into); again != text {
		p.breaks("%s does not survive JSON:\n%s\ncame back as\n%s", what, text, again)
	}
}
