package words_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/words"
)

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		d           time.Duration
		span, about string
	}{
		{-time.Hour, "under 1m", "under 1m"},
		{0, "under 1m", "under 1m"},
		{30*time.Second - 1, "under 1m", "under 1m"},
		{30 * time.Second, "1m", "about 1m"},
		{20 * time.Minute, "20m", "about 20m"},
		{time.Hour - time.Second, "1h", "about 1h"},
		{2 * time.Hour, "2h", "about 2h"},
		{65*time.Minute + 29*time.Second, "1h05m", "about 1h05m"},
		{49 * time.Hour, "49h", "about 49h"},
	} {
		if span, about := words.Span(c.d), words.About(c.d); span != c.span || about != c.about {
			t.Errorf("%s: %q and %q, want %q and %q", c.d, span, about, c.span, c.about)
		}
	}
}
