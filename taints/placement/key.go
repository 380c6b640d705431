package placement

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead"
)

// key is a text that is equal for two pods if, and only if, they have the same
// requirements in the same order: every part begins with its length.
type key []byte

func (k *key) text(s string) {
	*k = strconv.AppendInt(*k, int64(len(s)), 10)
	*k = append(*k, ':')
	*k = append(*k, s...)
}

func (k *key) number(n int) {
	*k = strconv.AppendInt(*k, int64(n), 10)
	*k = append(*k, ';')
}

func (k *key) texts(m map[string]string) {
	k.number(len(m))
	switch len(m) {
	case 0:
		return
	case 1: // without garbage
		for name, value := range m {
			k.text(name)
			k.text(value)
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		k.text(name)
		k.text(m[name])
	}
}

func (k *key) containers(all []fairlead.Container) {
	k.number(len(all))
	for i := range all {
		c := &all[i]
		k.texts(c.Resources.Requests)
		k.text(c.RestartPolicy)
		k.number(len(c.Ports))
		for _, p := range c.Ports {
			k.number(int(p.HostPort))
			k.text(p.HostIP)
			k.text(p.Protocol)
		}
	}
}

// of appends the requirements of a pod, with or without its volumes. Rare ones are written
// as JSON.
func (k *key) of(p *fairlead.Pod, volumes bool) {
	s := &p.Spec
	k.text(p.Namespace)
	k.texts(p.Labels)
	k.texts(s.NodeSelector)
	k.number(len(s.Tolerations))
	for i := range s.Tolerations {
		t := &s.Tolerations[i]
		k.text(t.Key)
		k.text(string(t.Operator))
		k.text(t.Value)
		k.text(string(t.Effect))
	}
	k.containers(s.InitContainers)
	k.containers(s.Containers)
	k.texts(s.Overhead)
	for i := 0; volumes && i < len(s.Volumes); i++ {
		if v := s.Volumes[i].PersistentVolumeClaim; v != nil {
			k.text(v.ClaimName)
		}
	}
	k.number(len(s.Volumes))
	if s.Affinity == nil && s.TopologySpreadConstraints == nil && s.Resources == nil {
		return
	}
	rare, err := json.Marshal([]any{s.Affinity, s.TopologySpreadConstraints, s.Resources})
	if err == nil { // strings, numbers and maps of them: it cannot fail
		*k = append(*k, rare...)
	}
}
