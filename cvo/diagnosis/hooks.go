package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/lifecycle"
)

// hookReasons are the reasons for which the deletion of a machine waits for a hook.
var hookReasons = []string{lifecycle.ReasonHookPending, lifecycle.ReasonHookOverdue, lifecycle.ReasonHookOwnerSilent, lifecycle.ReasonHookOwnerUnknown, lifecycle.ReasonHookApproval}

// hookRemedies: a hook that holds up the deletion of a machine is removed, on behalf of its owner.
func (w *world) hookRemedies(n *Node) []remedy {
	m, name := w.machine(n.Namespace, n.Name), n.Alike
	if _, known := lifecycle.Lookup(lifecycle.KnownHook, name); known || m == nil || !slices.Contains(hookReasons, n.Reason) {
		return nil // of those that are known, the engine says what to do
	}
	point, at := lifecycle.PreDrain, hookAt(m, lifecycle.PreDrain, name)
	if at < 0 {
		point, at = lifecycle.PreTerminate, hookAt(m, lifecycle.PreTerminate, name)
	}
	if at < 0 {
		return nil
	}
	command := shell.Command("kubectl -n %s patch machine %s --type json -p %s", m.Namespace, m.Name, fmt.Sprintf(
		`[{"op":"test","path":"/spec/lifecycleHooks/%[1]s/%[2]d/name","value":%[3]s},{"op":"remove","path":"/spec/lifecycleHooks/%[1]s/%[2]d"}]`, point, at, shell.JSON(name)))
	if annotation := hookAnnotation(m, point, name); annotation != "" {
		command = shell.Command("kubectl -n %s annotate machines.cluster.x-k8s.io %s %s", m.Namespace, m.Name, annotation+"-")
	}
	owner := m.Spec.LifecycleHooks.At(point)[at].Owner
	s := Step{
		Do: fmt.Sprintf("See why the owner of hook %s of machine %s has not removed it; if it never will, remove the hook", name, m.ObjectMeta.String()), Tried: true, Command: w.program(command),
		Must: "what the hook waits for is done, or not needed any more", See: w.program(shell.Command("kubectl -n %s describe machine %s", m.Namespace, m.Name)),
	}
	if owner != "" {
		s.Do = fmt.Sprintf("See why %s has not removed hook %s of machine %s; if it never will, remove the hook", owner, name, m.ObjectMeta.String())
	}
	return []remedy{{s, func(c *world) bool { return c.unhook(m.Namespace, m.Name, point, at) }}}
}

// hookAt returns the position of a hook at a point of a machine, or -1.
func hookAt(m *lifecycle.Machine, p lifecycle.Point, name string) int {
	return slices.IndexFunc(m.Spec.LifecycleHooks.At(p), func(h lifecycle.Hook) bool { return h.Name == name })
}

// hookAnnotation returns the annotation that a hook of the Cluster API is; "" for other machines.
func hookAnnotation(m *lifecycle.Machine, p lifecycle.Point, name string) string {
	if !strings.HasPrefix(m.APIVersion, "cluster.x-k8s.io/") {
		return ""
	}
	if p == lifecycle.PreDrain {
		return lifecycle.PreDrainAnnotation + "/" + name
	}
	return lifecycle.PreTerminateAnnotation + "/" + name
}

// unhook removes a hook of a machine.
func (w *world) unhook(namespace, name string, p lifecycle.Point, at int) bool {
	return w.editMachine(namespace, name, func(m *lifecycle.Machine) {
		h := &m.Spec.LifecycleHooks
		if p == lifecycle.PreDrain {
			h.PreDrain = slices.Delete(slices.Clone(h.PreDrain), at, at+1)
		} else {
			h.PreTerminate = slices.Delete(slices.Clone(h.PreTerminate), at, at+1)
		}
	})
}

// machine returns a machine, or nil.
func (w *world) machine(namespace, name string) *lifecycle.Machine {
	for i := range w.machines {
		if m := &w.machines[i]; m.Namespace == namespace && m.Name == name {
			return m
		}
	}
	return nil
}

// editMachine replaces a machine by a changed copy; false if there is none of that name.
func (w *world) editMachine(namespace, name string, edit func(*lifecycle.Machine)) bool {
	at := slices.IndexFunc(w.machines, func(m lifecycle.Machine) bool { return m.Namespace == namespace && m.Name == name })
	if at < 0 {
		return false
	}
	w.machines = slices.Clone(w.machines)
	edit(&w.machines[at])
	return true
}

// failedRemedies: a machine that has failed for reasons that nobody tells is deleted, and its set makes
// another one; the engine says whether the deletion goes on.
func (w *world) failedRemedies(n *Node) []remedy {
	m := w.machine(n.Namespace, n.Name)
	if m == nil || m.Deleting() || m.ControllerOf() == nil || !strings.HasSuffix(m.ControllerOf().Kind, "Set") {
		return nil
	}
	set := m.ControllerOf()
	s := Step{
		Do:      fmt.Sprintf("Delete machine %s, so that %s %s makes another one", m.ObjectMeta.String(), set.Kind, set.Name),
		Command: w.program(shell.Command("kubectl -n %s delete machine %s", m.Namespace, m.Name)), Tried: true,
	}
	return []remedy{{s, func(c *world) bool {
		return c.editMachine(m.Namespace, m.Name, func(x *lifecycle.Machine) { at := c.now; x.DeletionTimestamp = &at })
	}}}
}
