package drain

import (
	"fmt"
	"testing"
)

// TestUpgrade: of a state of version 1, waits and attempts at nodes and pods are as they were.
func TestUpgrade(t *testing.T) {
	const old = `{"progress":{"cordoned":"nu","cordonMark":"2026-03-01T12:00:00Z","cordonAsked":"2026-03-01T12:00:01Z","cordonAttempts":2,
		"pods":[{"pod":"d/a","uid":"pa","since":"2026-03-01T12:00:02Z","asked":"2026-03-01T12:00:03Z","attempts":4,"failed":true,"code":429,"detail":"no"},{"pod":"d/b","uid":"pb","since":"2026-03-01T12:00:02Z"}]},
		"begun":true,"requests":[{"uid":"r","boot":"b"}],"waits":[{"node":"n","reason":"EvictionRefused","name":"d/a","owner":"PodDisruptionBudget","detail":"no","since":"2026-03-01T12:00:04Z"}],
		"retries":[{"key":{"kind":"Report","id":"r"},"attempts":1,"since":"2026-03-01T12:00:05Z","last":"2026-03-01T12:00:05Z"}]}`
	s, err := upgrade(1, []byte(old))
	if err != nil || !s.Begun || s.Requests[0].Boot != "b" || s.Progress.Cordoned != "nu" || s.Progress.CordonMark == "" || !s.Progress.Pending.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	got := ""
	for _, w := range s.Waits {
		got += fmt.Sprintln(w)
	}
	for _, r := range s.Retries {
		got += fmt.Sprintln(r.Key, r.Attempts, r.Since.Second(), r.Last.Second())
	}
	const want = `node n: EvictionRefused: d/a: no (owner PodDisruptionBudget, since 2026-03-01T12:00:04Z)
Report r 1 5 5
Cordon nu 2 1 1
Evict pa 4 2 3
`
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if _, err := upgrade(1, []byte(`{"progress":{"pods":7}}`)); err == nil {
		t.Error("what is no state is read")
	}
}
