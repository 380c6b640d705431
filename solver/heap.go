package solver

// A varHeap orders variables by how often they took part in recent clashes
// (VSIDS: Moskewicz et al. 2001, decaying as in MiniSat). It contains only
// those that did, and only while it is awake.
type varHeap struct {
	activity []float64 // by variable
	items    []Var
	place    []int32 // by variable: 1 + its place in items; 0 outside
	selected []bool  // by variable: whether it held when it was last undone
	by       float64 // how much a clash adds
	active   []Var   // the variables that have an activity
	on       bool    // variables that become open again are added
}

// wake fills the heap with the active ones among n variables, until rest is
// called.
func (h *varHeap) wake(n int) {
	if h.activity == nil {
		h.activity, h.place, h.selected, h.by = make([]float64, n), make([]int32, n), make([]bool, n), 1
	}
	h.grow(n)
	h.on = true
	for _, v := range h.active {
		h.put(v)
	}
}

// grow makes room for n variables, if the heap was woken before.
func (h *varHeap) grow(n int) {
	for h.activity != nil && len(h.activity) < n {
		h.activity, h.place, h.selected = append(h.activity, 0), append(h.place, 0), append(h.selected, false)
	}
}

// rest empties the heap until it is woken again.
func (h *varHeap) rest() {
	h.on = false
	for _, v := range h.items {
		h.place[v] = 0
	}
	h.items = h.items[:0]
}

// undone adds the variable of a literal that does not hold any more, and keeps
// which one it was, to be decided the same next time (Pipatsrisawat and Darwiche
// 2007).
func (h *varHeap) undone(l Lit) {
	if h.on {
		h.selected[l.Var()] = l > 0
		h.put(l.Var())
	}
}

// put adds a variable while the heap is awake, unless it is already there or
// not active.
func (h *varHeap) put(v Var) {
	if !h.on || h.place[v] != 0 || h.activity[v] == 0 {
		return
	}
	h.items = append(h.items, v)
	h.place[v] = int32(len(h.items))
	h.up(len(h.items) - 1)
}

// forgotten is the fraction of what a clash adds below which a variable is no
// longer active: that of one that took part in a single clash, about a hundred
// clashes ago. Otherwise every variable that ever clashed would be decided
// after every clash.
const forgotten = 0.01

// next removes and returns the most active variable, or returns 0.
func (h *varHeap) next() Var {
	if len(h.items) == 0 || h.activity[h.items[0]] < forgotten*h.by {
		return 0
	}
	top, last := h.items[0], len(h.items)-1
	h.swap(0, last)
	h.items = h.items[:last]
	h.place[top] = 0
	h.down(0)
	return top
}

func (h *varHeap) bump(v Var) {
	if h.activity == nil {
		return
	}
	if h.activity[v] == 0 {
		h.active = append(h.active, v)
	}
	if h.activity[v] += h.by; h.activity[v] > 1e100 {
		for i := range h.activity {
			h.activity[i] *= 1e-100
		}
		h.by *= 1e-100
	}
	if at := h.place[v]; at != 0 {
		h.up(int(at) - 1)
	}
}

func (h *varHeap) decay() { h.by /= 0.95 }

// less puts the more active variable first and, among equals, the one created
// first.
func (h *varHeap) less(i, j int) bool {
	a, b := h.items[i], h.items[j]
	return h.activity[a] > h.activity[b] || h.activity[a] == h.activity[b] && a < b
}

func (h *varHeap) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.place[h.items[i]], h.place[h.items[j]] = int32(i+1), int32(j+1)
}

func (h *varHeap) up(i int) {
	for i > 0 && h.less(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (h *varHeap) down(i int) {
	for {
		best := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(h.items) && h.less(child, best) {
				best = child
			}
		}
		if best == i {
			return
		}
		h.swap(i, best)
		i = best
	}
}
