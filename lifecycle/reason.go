package lifecycle

// Reasons of Waits, and of the Blocks that they become.
const (
	ReasonHookPending = "HookPending" // the owner of a hook is to act
	ReasonPodPending  = "PodPending"  // a pod is still on the node
)

// phrase is how a reason is put into words.
type phrase struct {
	message func(w *Wait) string
	unblock string
}

func plain(text string) func(*Wait) string {
	return func(w *Wait) string { return detailed(text, w.Detail) }
}

func named(before, after string) func(*Wait) string {
	return func(w *Wait) string { return detailed(before+w.Name+after, w.Detail) }
}

// detailed adds to a message what is known of how it came about.
func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}

// phrases has the words of each reason.
var phrases = map[string]phrase{
	ReasonHookPending: {func(w *Wait) string {
		return detailed(string(w.Point)+" hook "+w.Name+" is not removed", w.Detail)
	}, "its owner does its work and removes the hook; in an emergency an administrator removes it from spec.lifecycleHooks"},
	ReasonPodPending: {named("pod ", " is still on the node"), "the pod ends"},
}
