package lifecycle

// Point is where a hook holds up a deletion.
type Point string

// The points, in the order in which a deletion reaches them.
const (
	PreDrain     Point = "preDrain"     // before the node is drained
	PreTerminate Point = "preTerminate" // before the instance is deleted
)

// At returns the hooks of a point, in the order of the machine. The caller must
// not change them.
func (h *LifecycleHooks) At(p Point) []Hook {
	switch p {
	case PreDrain:
		return h.PreDrain
	case PreTerminate:
		return h.PreTerminate
	}
	return nil
}
