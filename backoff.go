package fairlead

import (
	"math"
	"time"
)

// Backoff is the delay before an action that had no visible effect is retried.
// The zero Backoff means a second, doubled each time, up to a minute.
type Backoff struct {
	Min    time.Duration // after the first attempt; zero means a second
	Max    time.Duration // the longest; zero means a minute, and less than Min means Min
	Growth float64       // from one to the next, more than 1; zero means 2
	// Spread shifts each delay by up to this part of it, earlier or later, so that
	// many actions do not come all at once: see For. At most 1.
	Spread float64
}

// For returns the delay after so many attempts at an action on the object with this
// ID: that of After, shifted by Spread. It depends on nothing else, and is in whole
// milliseconds if it is a second or more.
func (b Backoff) For(id string, attempts int) time.Duration {
	d := b.After(attempts)
	if b.Spread <= 0 || d <= 0 {
		return d
	}
	most := time.Duration(min(b.Spread, 1) * float64(d))
	d = min(d, math.MaxInt64-most) + time.Duration((2*fraction(id, attempts)-1)*float64(most))
	if d < time.Second {
		return d
	}
	return d.Truncate(time.Millisecond)
}

// fraction returns a number from 0 up to 1 that depends only on its arguments: their
// FNV-1a hash.
func fraction(id string, attempts int) float64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	for range 4 {
		h = (h ^ uint64(attempts&0xff)) * 1099511628211
		attempts >>= 8
	}
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return float64(h>>11) / (1 << 53)
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
