package words

import (
	"fmt"
	"time"
)

// Span writes a duration in hours and minutes, without a zero unit: "1h05m", "2h",
// "20m"; "under 1m" if it rounds to none.
func Span(d time.Duration) string {
	d = d.Round(time.Minute)
	switch h, m := d/time.Hour, d%time.Hour/time.Minute; {
	case d <= 0:
		return "under 1m"
	case h == 0:
		return fmt.Sprintf("%dm", m)
	case m == 0:
		return fmt.Sprintf("%dh", h)
	default:
		return fmt.Sprintf("%dh%02dm", h, m)
	}
}

// About writes an estimated duration: "about 20m", or "under 1m".
func About(d time.Duration) string {
	if d < time.Minute/2 {
		return Span(d)
	}
	return "about " + Span(d)
}
