package lifecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// The API groups of machines.
const (
	groupMachineAPI = "machine.openshift.io/"
	groupClusterAPI = "cluster.x-k8s.io/"
)

// versionMetaConditions is the first version whose conditions are those of
// Kubernetes (metav1.Condition): without severity, each with a reason.
const versionMetaConditions = "cluster.x-k8s.io/v1beta2"

// Prefixes of the annotations that are hooks on machines of the Cluster API. A
// slash and the hook's name follow; the value names the owner.
const (
	PreDrainAnnotation     = "pre-drain.delete.hook.machine.cluster.x-k8s.io"
	PreTerminateAnnotation = "pre-terminate.delete.hook.machine.cluster.x-k8s.io"
)

// Document is a machine as a cluster prints it, of the Machine API
// (machine.openshift.io) or the Cluster API (cluster.x-k8s.io). Everything that
// is not in Machine is kept, and written back.
type Document struct {
	Machine Machine         // the part that the engine reads
	raw     json.RawMessage // all of it
}

// ReadDocument reads a machine in JSON. Hooks of the Cluster API, which are
// annotations, become hooks by name; their annotations stay. The error names
// the field that cannot be read.
func ReadDocument(data []byte) (*Document, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	if head.Kind != "Machine" || !strings.HasPrefix(head.APIVersion, groupMachineAPI) && !strings.HasPrefix(head.APIVersion, groupClusterAPI) {
		return nil, &fairlead.FieldError{Path: "kind", Problem: fmt.Sprintf("it is %s of %q; a Machine of machine.openshift.io or cluster.x-k8s.io is read", head.Kind, head.APIVersion)}
	}
	d := &Document{raw: bytes.Clone(data)}
	if err := json.Unmarshal(data, &d.Machine); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	if d.ClusterAPI() {
		if err := d.readClusterAPI(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// ClusterAPI reports whether the document is from the Cluster API.
func (d *Document) ClusterAPI() bool {
	return strings.HasPrefix(d.Machine.APIVersion, groupClusterAPI)
}

func (d *Document) readClusterAPI() error {
	m := &d.Machine
	m.Spec.LifecycleHooks = LifecycleHooks{
		PreDrain:     annotated(m.Annotations, PreDrainAnnotation),
		PreTerminate: annotated(m.Annotations, PreTerminateAnnotation),
	}
	// Its first versions write timeouts as durations.
	var old struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(d.raw, &old); err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	var bounds MachineDeletion
	if m.Spec.Deletion != nil {
		bounds = *m.Spec.Deletion
	}
	for _, f := range []struct {
		name string
		to   **int32
	}{
		{"nodeDrainTimeout", &bounds.NodeDrainTimeoutSeconds},
		{"nodeVolumeDetachTimeout", &bounds.NodeVolumeDetachTimeoutSeconds},
		{"nodeDeletionTimeout", &bounds.NodeDeletionTimeoutSeconds},
	} {
		if *f.to != nil || old.Spec[f.name] == nil {
			continue
		}
		var text string
		err := json.Unmarshal(old.Spec[f.name], &text)
		var length time.Duration
		if err == nil {
			length, err = time.ParseDuration(text)
		}
		if err != nil || length/time.Second > 1<<31-1 || length/time.Second < -1<<31 {
			return &fairlead.FieldError{Path: "spec." + f.name, Problem: fmt.Sprintf("%s is not a duration such as \"10m\"", old.Spec[f.name])}
		}
		seconds := int32(length / time.Second)
		*f.to = &seconds
		m.Spec.Deletion = &bounds
	}
	return nil
}

// annotated returns the hooks for the annotations with a prefix, by name.
func annotated(annotations map[string]string, prefix string) []Hook {
	var hooks []Hook
	for key, owner := range annotations {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		name, ok := strings.CutPrefix(key, prefix+"/")
		if !ok || strings.HasPrefix(name, prefix) {
			name = key // the whole key is its only name
		}
		hooks = append(hooks, Hook{Name: name, Owner: owner})
	}
	slices.SortFunc(hooks, func(a, b Hook) int { return strings.Compare(a.Name, b.Name) })
	return hooks
}

// annotation returns the key of the annotation for a hook.
func annotation(prefix, name string) string {
	if strings.HasPrefix(name, prefix) {
		return name
	}
	return prefix + "/" + name
}

// JSON writes the document with the changes of Machine: hooks, annotations,
// finalizers, phase, conditions and errors. Everything else is as it was read.
// Keys are sorted.
func (d *Document) JSON() ([]byte, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(d.raw, &top); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	old, err := ReadDocument(d.raw)
	if err != nil {
		return nil, err
	}
	now, was := &d.Machine, &old.Machine
	meta, spec, status := map[string]any{}, map[string]any{}, map[string]any{}
	if !slices.Equal(now.Finalizers, was.Finalizers) {
		meta["finalizers"] = written(now.Finalizers, len(now.Finalizers))
	}
	if a, b := d.annotations(), old.annotations(); !maps.Equal(a, b) {
		meta["annotations"] = written(a, len(a))
	}
	if h, o := now.Spec.LifecycleHooks, was.Spec.LifecycleHooks; !d.ClusterAPI() && !h.equal(o) {
		spec["lifecycleHooks"] = written(h, len(h.PreDrain)+len(h.PreTerminate))
	}
	if !slices.EqualFunc(now.Status.Conditions, was.Status.Conditions, Condition.equal) {
		status["conditions"] = d.conditions(top)
	}
	for _, f := range []struct{ name, now, was string }{
		{"phase", string(now.Status.Phase), string(was.Status.Phase)},
		{"errorReason", now.Status.ErrorReason, was.Status.ErrorReason},
		{"errorMessage", now.Status.ErrorMessage, was.Status.ErrorMessage},
	} {
		if f.now != f.was {
			status[f.name] = written(f.now, len(f.now))
		}
	}
	err = errors.Join(put(top, "metadata", meta), put(top, "spec", spec), put(top, "status", status))
	if err != nil {
		return nil, err
	}
	return json.Marshal(top)
}

func (h LifecycleHooks) equal(o LifecycleHooks) bool {
	return slices.Equal(h.PreDrain, o.PreDrain) && slices.Equal(h.PreTerminate, o.PreTerminate)
}

// annotations returns those that the document should have: for the Cluster API,
// including those for the machine's hooks.
func (d *Document) annotations() map[string]string {
	if !d.ClusterAPI() {
		return d.Machine.Annotations
	}
	all := make(map[string]string, len(d.Machine.Annotations))
	for key, value := range d.Machine.Annotations {
		if !strings.HasPrefix(key, PreDrainAnnotation) && !strings.HasPrefix(key, PreTerminateAnnotation) {
			all[key] = value
		}
	}
	for _, h := range d.Machine.Spec.LifecycleHooks.PreDrain {
		all[annotation(PreDrainAnnotation, h.Name)] = h.Owner
	}
	for _, h := range d.Machine.Spec.LifecycleHooks.PreTerminate {
		all[annotation(PreTerminateAnnotation, h.Name)] = h.Owner
	}
	return all
}

// conditions returns those of the machine, each with the other fields that the
// document has for it.
func (d *Document) conditions(top map[string]json.RawMessage) any {
	var status struct {
		Conditions []map[string]json.RawMessage `json:"conditions"`
	}
	_ = json.Unmarshal(top["status"], &status) // ReadDocument has already read it
	var all []any
	for _, c := range d.Machine.Status.Conditions {
		if d.Machine.APIVersion == versionMetaConditions {
			c = c.meta()
		}
		one := map[string]json.RawMessage{}
		for _, old := range status.Conditions {
			if name, _ := json.Marshal(c.Type); bytes.Equal(old["type"], name) {
				one = old
			}
		}
		now, _ := json.Marshal(c)
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(now, &fields)
		for _, name := range []string{"status", "severity", "lastTransitionTime", "reason", "message", "type"} {
			switch value, there := fields[name]; {
			case there:
				one[name] = value
			case string(one[name]) != `""`:
				delete(one, name)
			}
		}
		if _, there := one["message"]; !there && d.Machine.APIVersion == versionMetaConditions {
			one["message"] = json.RawMessage(`""`)
		}
		all = append(all, one)
	}
	return written(all, len(all))
}

// written is v, or nil if it is empty.
func written(v any, size int) any {
	if size == 0 {
		return nil
	}
	return v
}

// put replaces fields of an object within top. A nil field is removed.
func put(top map[string]json.RawMessage, name string, fields map[string]any) error {
	if len(fields) == 0 {
		return nil
	}
	object := map[string]json.RawMessage{}
	if old, there := top[name]; there {
		if err := json.Unmarshal(old, &object); err != nil {
			return &fairlead.FieldError{Path: name, Problem: "it is not an object: " + err.Error()}
		}
	}
	for key, value := range fields {
		if value == nil {
			delete(object, key)
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		object[key] = text
	}
	text, err := json.Marshal(object)
	top[name] = text
	return err
}
