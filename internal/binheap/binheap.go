// Package binheap is a heap of values: unlike container/heap it puts none of them into an
// interface, which costs an allocation each.
package binheap

// Heap gives back the least of its items first. What is pushed and popped is kept in
// Items.
type Heap[T any] struct {
	Items []T               // those that are in it; the least is first, the others in no order that matters
	Less  func(a, b T) bool // a strict order, which decides alone
}

// Push adds an item.
func (h *Heap[T]) Push(item T) {
	h.Items = append(h.Items, item)
	for i := len(h.Items) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.Less(h.Items[i], h.Items[parent]) {
			return
		}
		h.Items[i], h.Items[parent] = h.Items[parent], h.Items[i]
		i = parent
	}
}

// Pop takes the least item away. There must be one.
func (h *Heap[T]) Pop() T {
	top, last := h.Items[0], len(h.Items)-1
	h.Items[0] = h.Items[last]
	h.Items = h.Items[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && h.Less(h.Items[child+1], h.Items[child]) {
			child++
		}
		if !h.Less(h.Items[child], h.Items[i]) {
			return top
		}
		h.Items[i], h.Items[child] = h.Items[child], h.Items[i]
		i = child
	}
}
