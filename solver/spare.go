package solver

import "sync"

// spare keeps values that are not in use until they are needed again, and
// becomes garbage together with what contains it. A sync.Pool does not: it, and
// everything that it is part of or refers to, stays until the collector has run
// twice, so the less often that runs, the more garbage is kept.
type spare[T any] struct {
	mu   sync.Mutex
	list []*T
}

// take returns a value that was put, or nil.
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
