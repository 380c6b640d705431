package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Lengths of the names of hooks, and of those of owners, in bytes.
const (
	minHookName  = 3
	maxHookName  = 256
	minHookOwner = 3
	maxHookOwner = 512
)

// Admit decides, as a webhook would, whether a change of a machine is allowed: it
// returns nil, or everything that is wrong as fairlead.FieldErrors. If old is nil, the
// machine is being created; if changed is nil, it is being deleted.
//
//  1. A new machine is checked in full: its name, providerSpec, hooks and
//     timeouts.
//  2. Of a machine that is not being deleted, only the changes are checked.
//     Existing faults may stay; otherwise they could not be fixed one at a
//     time.
//  3. Once deletion has begun, hooks may be removed, but neither added nor
//     changed. Nothing else is checked, so that no machine is too invalid to be
//     deleted: finalizers may be removed, one by one or all at once.
//  4. A deletion cannot be undone, and is always allowed.
func Admit(old, changed *Machine) error {
	var errs fairlead.FieldErrors
	switch {
	case changed == nil:
	case old == nil:
		if changed.Name == "" {
			errs.Add("metadata.name", "it is empty; every machine needs a name")
		}
		if len(changed.Spec.ProviderSpec) == 0 && !strings.HasPrefix(changed.APIVersion, groupClusterAPI) {
			errs.Add("spec.providerSpec", "it is missing; without it no instance can be created")
		}
		changed.Spec.check(&errs)
	case old.Deleting():
		if !changed.Deleting() {
			errs.Add("metadata.deletionTimestamp", "it was removed; a deletion cannot be undone, create a new machine")
		}
		for _, p := range [...]Point{PreDrain, PreTerminate} {
			shrinks(p, old.Spec.LifecycleHooks.At(p), changed.Spec.LifecycleHooks.At(p), &errs)
		}
	default:
		var before, after fairlead.FieldErrors
		old.Spec.check(&before)
		changed.Spec.check(&after)
		for _, e := range after {
			if !slices.ContainsFunc(before, func(b *fairlead.FieldError) bool { return *b == *e }) {
				errs = append(errs, e)
			}
		}
	}
	return errs.Err()
}

// shrinks checks that no hook is new or changed.
func shrinks(p Point, old, changed []Hook, errs *fairlead.FieldErrors) {
	var added []Hook
	left := slices.Clone(old)
	for _, h := range changed {
		if i := slices.Index(left, h); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			added = append(added, h)
		}
	}
	if len(added) > 0 {
		errs.Add("spec.lifecycleHooks."+string(p), "forbidden: the machine is being deleted, so its hooks may be removed, but neither added nor changed; new or changed are %s", listed(firstHook, added))
	}
}

// Check reports what is wrong with hooks: nil, or fairlead.FieldErrors with paths below
// spec.lifecycleHooks. Names are unique in their list; the same name may be in both
// lists.
func (h *LifecycleHooks) Check() error {
	var errs fairlead.FieldErrors
	h.check(&errs)
	return errs.Err()
}

func (h *LifecycleHooks) check(errs *fairlead.FieldErrors) {
	for _, p := range [...]Point{PreDrain, PreTerminate} {
		seen := make(map[string]int)
		for i, hook := range h.At(p) {
			path := fmt.Sprintf("spec.lifecycleHooks.%s[%d]", p, i)
			if problem := hook.nameProblem(); problem != "" {
				errs.Add(path+".name", "%s", problem)
			}
			if first, twice := seen[hook.Name]; twice {
				errs.Add(path, "duplicate name %q: %s[%d] also has it; give each hook of a list its own", hook.Name, p, first)
			} else {
				seen[hook.Name] = i
			}
			if problem := hook.ownerProblem(); problem != "" {
				errs.Add(path+".owner", "%s", problem)
			}
		}
	}
}

func (h Hook) ownerProblem() string {
	switch n := len(h.Owner); {
	case n == 0:
		return "it is empty; name who removes the hook, as in clusteroperator/etcd"
	case n < minHookOwner || n > maxHookOwner:
		return fmt.Sprintf("it has %d bytes; it must have %d to %d", n, minHookOwner, maxHookOwner)
	}
	return ""
}

func (h Hook) nameProblem() string {
	if h.Name == "" {
		return "it is empty; give it one such as MigrateImportantApp"
	}
	if n := len(h.Name); n < minHookName || n > maxHookName {
		return fmt.Sprintf("it has %d bytes; it must have %d to %d", n, minHookName, maxHookName)
	}
	prefix, name, ok := strings.Cut(h.Name, "/")
	if !ok {
		prefix, name = "a", h.Name
	}
	if !dns(prefix) || !qualified(name) {
		return fmt.Sprintf("%q is not a hook name: letters, digits, '-', '_' and '.' with a letter or digit at both ends, optionally after a lower-case DNS name and '/'", h.Name)
	}
	return ""
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// qualified reports whether s is the name part of a hook's name.
func qualified(s string) bool {
	for i := range len(s) {
		end := i == 0 || i == len(s)-1
		if !alphanumeric(s[i]) && (end || !strings.ContainsRune("-_.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}

// dns reports whether s is a DNS subdomain.
func dns(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !qualified(label) || strings.ContainsAny(label, "_") || strings.ToLower(label) != label {
			return false
		}
	}
	return true
}

func (s *MachineSpec) check(errs *fairlead.FieldErrors) {
	s.LifecycleHooks.check(errs)
	if s.Deletion == nil {
		return
	}
	for _, f := range []struct {
		name  string
		value *int32
	}{
		{"nodeDrainTimeoutSeconds", s.Deletion.NodeDrainTimeoutSeconds},
		{"nodeVolumeDetachTimeoutSeconds", s.Deletion.NodeVolumeDetachTimeoutSeconds},
		{"nodeDeletionTimeoutSeconds", s.Deletion.NodeDeletionTimeoutSeconds},
	} {
		if f.value != nil && *f.value < 0 {
			errs.Add("spec.deletion."+f.name, "it is %d; write 0 for no limit, or a positive number of seconds", *f.value)
		}
	}
}

// Check reports what is wrong with a policy: nil, or fairlead.FieldErrors with paths in
// the policy.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var errs fairlead.FieldErrors
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"ownerTimeout", p.OwnerTimeout}, {"drainTimeout", p.DrainTimeout}, {"volumeDetachTimeout", p.VolumeDetachTimeout},
		{"nodeDeletionTimeout", p.NodeDeletionTimeout}, {"minBackoff", p.MinBackoff}, {"maxBackoff", p.MaxBackoff}, {"resync", p.Resync},
	} {
		if f.value < 0 {
			errs.Add(f.name, "it is %v; write 0 for its default, or a positive duration", f.value)
		}
	}
	for i := range p.Deadlines {
		p.Deadlines[i].check(fmt.Sprintf("deadlines[%d]", i), &errs)
	}
	p.checkOrder(&errs)
	if err, bad := p.Drain.Check().(fairlead.FieldErrors); bad {
		for _, e := range err {
			errs.Add("drain."+e.Path, "%s", e.Problem)
		}
	}
	return errs.Err()
}

func (d *Deadline) check(path string, errs *fairlead.FieldErrors) {
	if d.Soft < 0 || d.Hard < 0 {
		errs.Add(path, "Soft is %v and Hard is %v; neither may be negative, 0 means never", d.Soft, d.Hard)
	}
	if d.Hard > 0 && d.Soft > d.Hard {
		errs.Add(path+".soft", "it is %v, later than Hard, %v; make it earlier than Hard", d.Soft, d.Hard)
	}
	if d.Hard > 0 && d.Then == EscalateWait {
		errs.Add(path+".then", "it is empty, so nothing happens after Hard; write Ask, Skip or Fail, or leave Hard out")
	}
	if !slices.Contains([]Escalation{EscalateWait, EscalateAsk, EscalateSkip, EscalateFail}, d.Then) {
		errs.Add(path+".then", "there is no escalation %q; write Ask, Skip or Fail, or leave it empty to wait", d.Then)
	}
	if d.Point != "" && d.Point != PreDrain && d.Point != PreTerminate {
		errs.Add(path+".point", "there is no point %q; write preDrain or preTerminate, or leave it empty for both", d.Point)
	}
}

// checkOrder finds hooks that wait for each other.
func (p *Policy) checkOrder(errs *fairlead.FieldErrors) {
	for i := range p.Order {
		path := fmt.Sprintf("order[%d]", i)
		if o := &p.Order[i]; o.Point != PreDrain && o.Point != PreTerminate {
			errs.Add(path+".point", "there is no point %q; write preDrain or preTerminate", o.Point)
		}
		if cycle := p.cycle(p.Order[i].Point, []string{p.Order[i].Name}); cycle != nil {
			errs.Add(path, "hooks wait for each other: %s; remove one of these", strings.Join(cycle, " after "))
			return
		}
	}
}

// cycle returns the hooks on a path from the last of path back to its first, or nil if
// there is none.
func (p *Policy) cycle(at Point, path []string) []string {
	for i := range p.Order {
		if p.Order[i].Point != at || p.Order[i].Name != path[len(path)-1] {
			continue
		}
		for _, first := range p.Order[i].After {
			if first == path[0] {
				return append(path, first)
			}
			if slices.Contains(path, first) {
				continue
			}
			if found := p.cycle(at, append(path[:len(path):len(path)], first)); found != nil {
				return found
			}
		}
	}
	return nil
}
