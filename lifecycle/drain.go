package lifecycle

import "time"

// DrainWorld is what a drain looks at.
type DrainWorld struct {
	// Node is the node that the machine's nodeRef names; nil when there is none.
	Node *Node `json:"node,omitempty"`
	// Pods are bound to the node.
	Pods []Pod `json:"pods,omitempty"`
	// Budgets are those of the namespaces of the pods.
	Budgets []PodDisruptionBudget `json:"budgets,omitempty"`
	// Failures are what the last attempts failed with.
	Failures []Failure `json:"failures,omitempty"`
}

// DrainState is what is remembered of a drain.
type DrainState struct {
	Retries []Retry `json:"retries,omitempty"` // evictions whose effect is not seen yet
}

// DrainPolicy is how nodes are drained. The zero value is useful.
type DrainPolicy struct {
	// MinBackoff is the time from a refused eviction to the next attempt.
	MinBackoff time.Duration
}

// drainDecision is what drain returns.
type drainDecision struct {
	state   DrainState
	actions []Action
	wake    time.Time
	done    bool   // nothing is left to remove
	failure string // what goes wrong, in a sentence; empty while all goes well
}

// drain decides what to do next about the pods of a node. Why it is not done
// yet goes into waits, in the order of pods. When nothing has changed since the
// state was made it allocates nothing. The node is the machine's own, and not nil.
func drain(state DrainState, world *DrainWorld, now time.Time, policy *DrainPolicy, waits *waitList) drainDecision {
	d := drainDecision{state: state, done: true}
	if !world.Node.Spec.Unschedulable {
		d.actions = append(d.actions, Cordon{world.Node.Name, world.Node.UID})
	}
	for i := range world.Pods {
		p := &world.Pods[i]
		if p.Finished() {
			continue
		}
		d.done = false
		waits.add(Wait{Reason: ReasonPodPending, Name: p.String()})
		if p.DeletionTimestamp == nil {
			d.actions = append(d.actions, Evict{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Node: p.Spec.NodeName})
		}
	}
	d.wake = now.Add(20 * time.Second)
	return d
}

// drainWords puts the waits of drains into words.
func drainWords(w *Wait) (message, unblock string) {
	return w.Reason + " " + w.Name, "it passes"
}
