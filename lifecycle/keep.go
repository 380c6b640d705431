package lifecycle

// kept builds a list anew. As long as what is added is what the list held
// before, it makes no list of its own, so that a Step in which nothing has
// changed allocates nothing.
type kept[T comparable] struct {
	old  []T // as it was
	list []T // as it is, once that differs
	n    int // how many were added
}

// add adds v behind the others.
func (k *kept[T]) add(v T) {
	if k.list == nil {
		if k.n < len(k.old) && k.old[k.n] == v {
			k.n++
			return
		}
		k.list = append(make([]T, 0, k.n+4), k.old[:k.n]...)
	}
	k.list = append(k.list, v)
	k.n++
}

// all returns what was added, in order; nil if nothing was.
func (k *kept[T]) all() []T {
	switch {
	case k.n == 0:
		return nil
	case k.list == nil:
		return k.old[:k.n:k.n]
	}
	return k.list
}
