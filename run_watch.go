package fairlead

import (
	"fmt"
	"sync"
	"time"
)

// StuckError says that a call of a Backend or Store has not returned within
// [RunnerOptions].CallTimeout. Its context has ended; the call may still take
// effect. Until it returns, no other pass over the object begins: passes end at
// once, with this error.
type StuckError struct {
	Call    string        // what was called: "load", "observe", "save" or "apply"
	Timeout time.Duration // how long it could have taken
}

// Error says what has not returned, and what to do.
func (e *StuckError) Error() string {
	return fmt.Sprintf("the call has not returned within %s, although its context has ended: the object waits until it does; make the backend return when its context ends", e.Timeout)
}

// watch limits the time of each call of a pass. A nil watch limits nothing.
type watch struct {
	limit time.Duration
	fire  func() // called if a call takes too long, on another goroutine: it calls expire

	mu    sync.Mutex
	timer *time.Timer // nil without a limit, and when the pass has ended
	call  string      // what is called now
	late  bool        // stuck was called
}

// begin says what the pass does next.
func (w *watch) begin(call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.call = call
	switch {
	case w.limit <= 0 || w.late:
	case w.timer == nil:
		w.timer = alarm(w.limit, w.fire)
	default:
		w.timer.Reset(w.limit)
	}
}

// now returns what the pass does.
func (w *watch) now() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.call
}

// end says that the pass has ended, and returns whether stuck was called before.
func (w *watch) end() (late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	return w.late
}

// expire calls stuck, with w locked, unless the pass is over or that was done.
func (w *watch) expire(stuck func(*StuckError)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil || w.late {
		return
	}
	w.late = true
	stuck(&StuckError{Call: w.call, Timeout: w.limit}) // what the pass does next comes after it
}
