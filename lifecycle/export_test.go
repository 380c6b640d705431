package lifecycle

import "time"

// HookSince returns when the machine began to wait for a hook, and false if it
// does not wait for it.
func (s *State) HookSince(p Point, name string) (time.Time, bool) {
	for i := range s.Hooks {
		if s.Hooks[i].Point == p && s.Hooks[i].Name == name {
			return s.Hooks[i].Since, true
		}
	}
	return time.Time{}, false
}
