package diagnosis

import (
	"testing"
	"time"
)

// TestSchedules: the last start that is not after Saturday, 2026-03-14 04:04.
func TestSchedules(t *testing.T) {
	for text, want := range map[string]string{
		"* * * * *": "03-14 04:04", "0 2 * * *": "03-14 02:00", "5 4 * * *": "03-13 04:05", "*/15 * * * *": "03-14 04:00", "0 0 1 * *": "03-01 00:00",
		"0 0 * * sun": "03-08 00:00", "0 0 * * 7": "03-08 00:00", "30 1 13 * 1": "03-13 01:30", "0 12 * feb mon-fri": "02-27 12:00", "@hourly": "03-14 04:00",
		"0-10/5 3,4 * * *": "03-14 04:00", "10/20 * * * *": "03-14 03:50", "0 0 */2 * fri": "03-13 00:00", "0 0 */2 * thu": "03-05 00:00", "0 0 2-30/2 * thu": "03-14 00:00", "0 0 31 * *": "01-31 00:00", "0 0 30 2 *": "",
	} {
		s, ok := scheduleOf(text)
		got := ""
		if at := s.last(testNow); !at.IsZero() {
			got = at.Format("01-02 15:04")
		}
		if !ok || got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "@every 5m", "* * * *", "60 * * * *", "* * * * mon-nix", "*/0 * * * *", "TZ=UTC 0 0 * * *", "5-1- * * * *"} {
		if _, ok := scheduleOf(text); ok {
			t.Errorf("%q is read", text)
		}
	}
	s, _ := scheduleOf("0 0 29 2 *")
	if got := s.last(testNow); !got.Equal(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the last leap day is %s", got)
	}
}
