package fairlead

import (
	"context"
	"runtime/debug"
	"sync"
)

// protect calls f and turns a panic into an error.
func protect(call string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(call, v)
		}
	}()
	return f()
}

func newPanic(call string, value any) *PanicError {
	return &PanicError{Call: call, Value: value, Stack: debug.Stack()}
}

// locks keeps passes over one object apart. The zero value is ready to use.
type locks struct {
	mu   sync.Mutex
	held map[string]*hold
}

// hold is a lock that somebody holds.
type hold struct {
	over  chan struct{} // closed when it is released, or its holder is stuck; nil while nobody waits
	stuck error         // why it is not released soon, nil as long as it may be
	watch watch         // of the holder's pass
}

// lock waits until nobody holds name, or ctx ends. If the holder is stuck, it
// returns why.
func (l *locks) lock(ctx context.Context, name string) (*hold, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.mu.Lock()
		h, busy := l.held[name]
		if !busy {
			break
		}
		stuck := h.stuck
		if h.over == nil {
			h.over = make(chan struct{})
		}
		over := h.over
		l.mu.Unlock()
		if stuck != nil {
			return nil, stuck
		}
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = make(map[string]*hold)
	}
	h := new(hold)
	l.held[name] = h
	return h, nil
}

// unlock ends a hold on name.
func (l *locks) unlock(name string, h *hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, name)
	if h.stuck == nil && h.over != nil {
		close(h.over)
	}
}

// stick says why the holder of name does not release it soon.
func (l *locks) stick(name string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[name]
	h.stuck = why
	if h.over != nil {
		close(h.over)
	}
}
