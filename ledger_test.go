package fairlead_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

var evict = fairlead.Key{Kind: "Evict", ID: "uid-1"}

// ask is one Step that wants an action done.
func ask(p fairlead.Pending, outcomes []fairlead.Outcome, now time.Time) (due bool, next fairlead.Pending, wake time.Time) {
	l := fairlead.NewLedger(p, outcomes, now, fairlead.Backoff{Min: time.Second, Max: time.Minute})
	due = l.Due(evict)
	return due, l.Pending(), l.Wake()
}

// An action without effect is retried with exponential backoff, up to the
// maximum.
func TestLedgerRepeats(t *testing.T) {
	var p fairlead.Pending
	now := noon
	for attempt, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		due, next, wake := ask(p, nil, now)
		if !due || wake.Sub(now) != want*time.Second || next.Retries[0].Attempts != attempt+1 || !next.Retries[0].Since.Equal(noon) {
			t.Fatalf("attempt %d: due %v, wake after %v, want %vs; kept %+v", attempt, due, wake.Sub(now), want, next)
		}
		if again, kept, at := ask(next, nil, wake.Add(-1)); again || !at.Equal(wake) || kept.Retries[0] != next.Retries[0] {
			t.Fatalf("attempt %d: just before %v it is due %v, wake %v", attempt, wake, again, at)
		}
		p, now = next, wake
	}
}

// A clock that is set back delays a repetition by no more than its backoff, and
// one that is set forward skips none.
func TestLedgerClock(t *testing.T) {
	_, p, _ := ask(fairlead.Pending{}, nil, noon)
	for _, jump := range []time.Duration{-24 * time.Hour, -time.Nanosecond, time.Second, 24 * time.Hour} {
		now := noon.Add(jump)
		due, next, wake := ask(p, nil, now)
		l := fairlead.NewLedger(p, nil, now, fairlead.Backoff{Min: time.Second, Max: time.Minute})
		l.KeepAll()
		if kept := l.Pending().Retries; len(kept) != 1 || kept[0].Since.After(now) {
			t.Errorf("jump by %v: kept %+v", jump, kept)
		}
		if !due || wake.Sub(now) != 2*time.Second || next.Retries[0].Since.After(now) {
			t.Errorf("jump by %v: due %v, wake after %v, kept %+v", jump, due, wake.Sub(now), next)
		}
	}
}

// What the server asks for counts when it is longer than the backoff, up to a
// limit, and not when it was said in the future.
func TestLedgerRetryAfter(t *testing.T) {
	_, p, _ := ask(fairlead.Pending{}, nil, noon)
	for _, tt := range []struct {
		at, after, want time.Duration
	}{
		{0, 10 * time.Second, 10 * time.Second},
		{0, time.Millisecond, time.Second},
		{0, 100 * time.Hour, time.Hour},
		{time.Hour, 10 * time.Second, time.Second},
	} {
		asked := []fairlead.Outcome{{Key: evict, At: noon.Add(tt.at), Failed: true, RetryAfter: tt.after}}
		if due, _, wake := ask(p, asked, noon); due || wake.Sub(noon) != tt.want {
			t.Errorf("asked at %v to wait %v: due %v, wake after %v, want %v", tt.at, tt.after, due, wake.Sub(noon), tt.want)
		}
	}
}

// One action is done once in a Step, and what is kept is not repeated.
func TestLedgerOnce(t *testing.T) {
	l := fairlead.NewLedger(fairlead.Pending{}, nil, noon, fairlead.Backoff{})
	l.Keep(evict) // it was never decided on
	if !l.Due(evict) || l.Due(evict) || l.Attempts(evict) != 1 || len(l.Pending().Retries) != 1 {
		t.Errorf("kept %+v", l.Pending())
	}
	later := fairlead.NewLedger(l.Pending(), nil, noon.Add(time.Hour), fairlead.Backoff{})
	later.Keep(evict)
	later.Keep(evict)
	if got := later.Pending(); len(got.Retries) != 1 || got.Retries[0] != l.Pending().Retries[0] || !later.Wake().IsZero() {
		t.Errorf("kept %+v, wake %v", got, later.Wake())
	}
	forgotten := fairlead.NewLedger(later.Pending(), nil, noon, fairlead.Backoff{})
	if got := forgotten.Pending(); !got.IsZero() {
		t.Errorf("what nobody asked for is kept: %+v", got)
	}
}

// A wait keeps its beginning for as long as it is told in each Step, and never
// begins in the future.
func TestLedgerBlock(t *testing.T) {
	block := func(p fairlead.Pending, now, since time.Time) (fairlead.Block, fairlead.Pending) {
		l := fairlead.NewLedger(p, nil, now, fairlead.Backoff{})
		l.Block(fairlead.Block{Subject: "node n", Reason: "Busy", Since: since})
		return l.Blocked()[0], l.Pending()
	}
	first, p := block(fairlead.Pending{}, noon, time.Time{})
	second, _ := block(p, noon.Add(time.Hour), time.Time{})
	if !first.Since.Equal(noon) || !second.Since.Equal(noon) {
		t.Errorf("since %v, then %v; want %v", first.Since, second.Since, noon)
	}
	back, kept := block(p, noon.Add(-time.Hour), time.Time{})
	if want := noon.Add(-time.Hour); !back.Since.Equal(want) || !kept.Waits[0].Since.Equal(want) {
		t.Errorf("the clock set back: since %v, kept %v, want %v", back.Since, kept.Waits[0].Since, want)
	}
	if told, _ := block(p, noon, noon.Add(-time.Minute)); !told.Since.Equal(noon.Add(-time.Minute)) {
		t.Errorf("a known beginning became %v", told.Since)
	}
	if ahead, _ := block(p, noon, noon.Add(time.Minute)); !ahead.Since.Equal(noon) {
		t.Errorf("a beginning in the future became %v", ahead.Since)
	}
}

// A Step in which nothing changes allocates nothing.
func TestLedgerAllocates(t *testing.T) {
	var p fairlead.Pending
	keys := []fairlead.Key{evict, {Kind: "Evict", ID: "uid-2"}, {Kind: "Cordon", ID: "node"}}
	first := fairlead.NewLedger(p, nil, noon, fairlead.Backoff{})
	for _, k := range keys {
		first.Due(k)
		first.Since("pod", k.ID)
	}
	p = first.Pending()
	var total int
	got := testing.AllocsPerRun(100, func() {
		l := fairlead.NewLedger(p, nil, noon.Add(time.Millisecond), fairlead.Backoff{})
		for _, k := range keys {
			if l.Due(k) {
				total++
			}
			l.Since("pod", k.ID)
		}
		total += len(l.Pending().Retries) - len(keys)
	})
	if got != 0 || total != 0 {
		t.Errorf("%v allocations, %d actions due", got, total)
	}
}

func TestBackoff(t *testing.T) {
	for _, tt := range []struct {
		b        fairlead.Backoff
		attempts int
		want     time.Duration
	}{
		{fairlead.Backoff{}, 0, 0},
		{fairlead.Backoff{}, 1, time.Second},
		{fairlead.Backoff{}, 7, time.Minute},
		{fairlead.Backoff{}, 1 << 30, time.Minute},
		{fairlead.Backoff{Min: time.Hour}, 5, time.Hour},
		{fairlead.Backoff{Min: 10 * time.Second, Growth: 1.3}, 2, 13 * time.Second},
		{fairlead.Backoff{Min: 1, Max: 1 << 62}, 1 << 30, 1 << 62},
		{fairlead.Backoff{Min: 1, Max: 10, Growth: 1.3}, 3, 10}, // a nanosecond does not grow by 1.3
	} {
		if got := tt.b.After(tt.attempts); got != tt.want {
			t.Errorf("%+v after %d attempts: %v, want %v", tt.b, tt.attempts, got, tt.want)
		}
	}
}

// What has no attempts was never decided on, and is not kept.
func TestLedgerKeepsAttempts(t *testing.T) {
	l := fairlead.NewLedger(fairlead.Pending{Retries: []fairlead.Retry{{Key: evict}}}, nil, noon, fairlead.Backoff{})
	l.KeepAll()
	if p := l.Pending(); !p.IsZero() {
		t.Errorf("kept %+v", p)
	}
}
