package solver

import "sync"

// spare keeps what is not in use at present for the next who needs it, and goes with what it is
// part of. A sync.Pool does not: it, and all that it is part of or refers to, stays until the
// collector has run twice, so the rarer that runs the more of what is long over is kept.
type spare[T any] struct {
	mu   sync.Mutex
	list []*T
}

// take returns something that was put, or nil.
func (s *spare[T]) take() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list) - 1
	if n < 0 {
		return nil
	}
	x := s.list[n]
	s.list[n] = nil
	s.list = s.list[:n]
	return x
}

func (s *spare[T]) put(x *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, x)
}
