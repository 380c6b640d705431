// Package unpacked keeps the contents of unpacked bundles until they are used.
package unpacked

import (
	"slices"
	"sync"
)

// Contents keeps contents by the name of a namespace or of an extension. It is
// safe for concurrent use.
type Contents[T any] struct {
	most int
	same func(a, b *T) bool

	mu sync.Mutex
	of map[string][]T // newest last
}

// New returns Contents that keep the newest contents of each name, at most the
// given number. A content replaces another one for which same returns true: that
// of the same bundle.
func New[T any](most int, same func(a, b *T) bool) *Contents[T] {
	return &Contents[T]{most: most, same: same, of: map[string][]T{}}
}

// Keep adds a content for a name.
func (c *Contents[T]) Keep(name string, content T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(c.of[name]), func(old T) bool { return c.same(&old, &content) })
	if len(all) >= c.most {
		all = all[1:]
	}
	c.of[name] = append(all, content)
}

// Of returns a copy of the contents of a name.
func (c *Contents[T]) Of(name string) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.of[name])
}

// Forget drops the contents of a name.
func (c *Contents[T]) Forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, name)
}

// Drop drops stale contents of all names.
func (c *Contents[T]) Drop(stale func(*T) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, all := range c.of {
		c.of[name] = slices.DeleteFunc(slices.Clone(all), func(x T) bool { return stale(&x) })
	}
}
