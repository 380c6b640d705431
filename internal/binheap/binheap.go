// Package binheap is a heap of values. Unlike container/heap, it does not convert them to
// interfaces, which costs an allocation for each.
package binheap

// Heap is a binary heap that pops the least of its items first. It keeps them in
// Items.
type Heap[T any] struct {
	Items []T               // its items; the least is first, the order of the others is unspecified
	Less  func(a, b T) bool // a strict order; nothing else decides
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

// Pop removes and returns the least item. The heap must not be empty.
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
