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
	held map[string]chan struct{} // closed when the lock is released
}

// lock waits until nobody holds name, or ctx ends.
func (l *locks) lock(ctx context.Context, name string) (unlock func(), err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.mu.Lock()
		released, busy := l.held[name]
		if !busy {
			break
		}
		l.mu.Unlock()
		select {
		case <-released:
		case <-ctx.Done():
		}
	}
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = make(map[string]chan struct{})
	}
	released := make(chan struct{})
	l.held[name] = released
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, name)
		close(released)
	}, nil
}
