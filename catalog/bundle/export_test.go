package bundle

// Stopping counts the findings that keep the bundle from being rendered: those that
// Render looks for, and all.
func (b *Bundle) Stopping() (looked, all int) {
	count := func(list findings) (n int) {
		for _, f := range list {
			if f.stops {
				n++
			}
		}
		return n
	}
	return count(b.stopping()), count(b.faults(&ValidateOptions{V1: true, KubeVersion: "1.31"}))
}
