package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// DeploymentError says why a deployment cannot be configured.
type DeploymentError struct {
	Deployment string // its name, or "" if that cannot be read
	Problem    string // what is wrong, and what to write
	Err        error  // the underlying error, or nil
}

// Error implements error.
func (e *DeploymentError) Error() string {
	text := fmt.Sprintf("deployment %q: %s", e.Deployment, e.Problem)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *DeploymentError) Unwrap() error { return e.Err }

// Apply returns a deployment of the operator that a CSV installs, with the
// config of its subscription and the proxy of its cluster. Both may be nil. The
// rules are documented on the fields of Config and on Environment. They apply to
// the pod's containers, not to its init containers.
//
// In the result, members are sorted by name and numbers are as written. A mount
// of a volume that the pod does not have is an error, since such a pod never
// starts, and so is a text that is not a deployment. Errors are
// *DeploymentErrors.
func Apply(deployment []byte, c *Config, proxy *Proxy, csv string) ([]byte, error) {
	var whole map[string]any
	if err := decode(deployment, &whole); err != nil {
		return nil, &DeploymentError{Problem: "it is not a JSON object", Err: err}
	}
	meta := child(whole, "metadata")
	name, _ := meta["name"].(string)
	spec, _ := whole["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	pod, ok := template["spec"].(map[string]any)
	if !ok {
		return nil, &DeploymentError{Deployment: name, Problem: "spec.template.spec is missing; write a pod there"}
	}
	if c == nil {
		c = &Config{}
	}
	a := &application{pod: pod, config: c}
	err := a.run(c.Environment(proxy, csv))
	if err != nil {
		return nil, &DeploymentError{Deployment: name, Problem: "it cannot take the subscription's config", Err: err}
	}
	if err := a.mounts(); err != nil {
		return nil, &DeploymentError{Deployment: name, Problem: err.Error()}
	}
	if len(c.Annotations) > 0 {
		annotate(meta, c.Annotations)
		annotate(child(template, "metadata"), c.Annotations)
	}
	out, err := encode(whole)
	if err != nil {
		return nil, &DeploymentError{Deployment: name, Problem: "it cannot be written", Err: err}
	}
	return out, nil
}

// application is one pod to which a config is applied.
type application struct {
	pod    map[string]any
	config *Config
}

func (a *application) run(env []EnvVar) error {
	c := a.config
	for _, container := range objects(a.pod["containers"]) {
		if err := mergeNamed(container, "env", env, func(e EnvVar) string { return e.Name }); err != nil {
			return err
		}
		if err := mergeEqual(container, "envFrom", c.EnvFrom); err != nil {
			return err
		}
		if err := mergeNamed(container, "volumeMounts", c.VolumeMounts, func(n Named) string { return n.Name }); err != nil {
			return err
		}
		if len(c.Resources) > 0 {
			value, err := generic(c.Resources)
			if err != nil {
				return fmt.Errorf("resources: %w", err)
			}
			container["resources"] = value
		}
	}
	if err := mergeNamed(a.pod, "volumes", c.Volumes, func(n Named) string { return n.Name }); err != nil {
		return err
	}
	if err := mergeEqual(a.pod, "tolerations", c.Tolerations); err != nil {
		return err
	}
	if c.NodeSelector != nil {
		value, err := generic(c.NodeSelector)
		if err != nil {
			return fmt.Errorf("nodeSelector: %w", err)
		}
		a.pod["nodeSelector"] = value
	}
	return a.affinity()
}

func (a *application) affinity() error {
	c := a.config.Affinity
	if c == nil {
		return nil
	}
	parts := []struct {
		key   string
		value json.RawMessage
	}{{"nodeAffinity", c.NodeAffinity}, {"podAffinity", c.PodAffinity}, {"podAntiAffinity", c.PodAntiAffinity}}
	all := child(a.pod, "affinity")
	if c.NodeAffinity == nil && c.PodAffinity == nil && c.PodAntiAffinity == nil {
		clear(all)
	}
	for _, p := range parts {
		if p.value == nil {
			continue
		}
		value, err := generic(p.value)
		if err != nil {
			return fmt.Errorf("affinity.%s: %w", p.key, err)
		}
		all[p.key] = value
		if part, ok := value.(map[string]any); ok && len(part) == 0 {
			delete(all, p.key)
		}
	}
	if len(all) == 0 {
		delete(a.pod, "affinity")
	}
	return nil
}

// mounts returns an error for the first mount of a volume that does not exist.
func (a *application) mounts() error {
	var volumes []string
	for _, v := range objects(a.pod["volumes"]) {
		name, _ := v["name"].(string)
		volumes = append(volumes, name)
	}
	for _, container := range objects(a.pod["containers"]) {
		for _, m := range objects(container["volumeMounts"]) {
			if name, _ := m["name"].(string); !slices.Contains(volumes, name) {
				return fmt.Errorf("container %q mounts volume %q, which the pod does not have; add it to spec.config.volumes of the subscription",
					container["name"], name)
			}
		}
	}
	return nil
}

// mergeNamed merges items into the list under a key. An item replaces an
// existing one of the same name; others are appended in the order given. The
// second item of a name replaces the second existing one: a volume may be
// mounted twice.
func mergeNamed[T any](holder map[string]any, key string, items []T, name func(T) string) error {
	list, _ := holder[key].([]any)
	taken := make([]bool, len(list))
	for _, item := range items {
		value, err := generic(item)
		if err != nil {
			return fmt.Errorf("%s %s: %w", key, name(item), err)
		}
		at := 0
		for at < len(taken) && (taken[at] || !named(list[at], name(item))) {
			at++
		}
		if at < len(taken) {
			list[at], taken[at] = value, true
			continue
		}
		list = append(list, value)
	}
	if list != nil {
		holder[key] = list
	}
	return nil
}

func named(item any, name string) bool {
	m, ok := item.(map[string]any)
	return ok && m["name"] == name
}

// mergeEqual appends to the list under a key the items that it does not contain.
func mergeEqual[T any](holder map[string]any, key string, items []T) error {
	list, _ := holder[key].([]any)
	for _, item := range items {
		value, err := generic(item)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if !slices.ContainsFunc(list, func(o any) bool { return reflect.DeepEqual(o, value) }) {
			list = append(list, value)
		}
	}
	if list != nil {
		holder[key] = list
	}
	return nil
}

// annotate adds annotations to an object's metadata. Existing ones are kept.
func annotate(meta map[string]any, annotations map[string]string) {
	all := child(meta, "annotations")
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if _, there := all[key]; !there {
			all[key] = annotations[key]
		}
	}
}

// child returns the object under a key, and creates it if there is none.
func child(holder map[string]any, key string) map[string]any {
	m, ok := holder[key].(map[string]any)
	if !ok {
		m = make(map[string]any)
		holder[key] = m
	}
	return m
}

// objects returns the objects of a list.
func objects(list any) []map[string]any {
	items, _ := list.([]any)
	var found []map[string]any
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

// generic returns a value as decoded from its JSON.
func generic(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	err = decode(data, &out)
	return out, err
}

// decode decodes one JSON value and keeps numbers as written.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("there is more text behind it")
	}
	return nil
}

// encode returns JSON with sorted names and without a newline at the end.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
