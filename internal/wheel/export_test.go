package wheel

// Entries returns how many entries the heap has, for the test of its bound.
func (t *Timers[K]) Entries() int { return len(t.heap) }
