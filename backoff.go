package fairlead

import "time"

// Backoff is the delay before an action that had no visible effect is retried.
// The zero Backoff means a second, doubled each time, up to a minute.
type Backoff struct {
	Min    time.Duration // after the first attempt; zero means a second
	Max    time.Duration // the longest; zero means a minute, and less than Min means Min
	Growth float64       // from one to the next, more than 1; zero means 2
}

// After returns the delay after so many attempts, zero after none. It never
// decreases as attempts grow, and never exceeds Max.
func (b Backoff) After(attempts int) time.Duration {
	if attempts < 1 {
		return 0
	}
	d := b.Min
	if d <= 0 {
		d = time.Second
	}
	most := b.Max
	if most <= 0 {
		most = time.Minute
	}
	most = max(most, d)
	for ; attempts > 1 && d < most; attempts-- {
		next := 2 * d
		if b.Growth > 1 {
			next = time.Duration(float64(d) * b.Growth)
		}
		if next <= d { // overflow, or growth below a nanosecond
			return most
		}
		d = next
	}
	return min(d, most)
}

// Past returns t, or now if t is later. It is the one rule for clocks that are
// set back: a recorded time later than now counts as now. An engine applies it
// to every recorded time that it reads from its State, and writes the result
// back, so that a wait lasts no longer than if it began now. A deadline, which
// is in the future on purpose, is computed and never recorded: store its start
// and a duration.
func Past(t, now time.Time) time.Time {
	if t.After(now) {
		return now
	}
	return t
}
