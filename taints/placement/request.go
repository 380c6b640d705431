package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// cpu is the one resource that the scheduler counts in thousandths.
const cpu = "cpu"

// Requests returns what the scheduler reserves for a pod, by resource: the sum
// of its containers and of sidecars, or what an init container needs while it
// runs, if that is more; for cpu, memory and huge pages, the request of the pod
// as a whole, if there is one; and the overhead in addition. The error names
// the first quantity that cannot be parsed, in the order of containers and of
// names.
func Requests(p *fairlead.Pod) (map[string]Amount, error) {
	total, err := ofContainers(&p.Spec)
	if err != nil {
		return nil, err
	}
	if p.Spec.Resources != nil {
		whole, err := amounts("spec.resources.requests", p.Spec.Resources.Requests)
		if err != nil {
			return nil, err
		}
		for name, a := range whole {
			if name == cpu || name == "memory" || strings.HasPrefix(name, "hugepages-") {
				total[name] = a
			}
		}
	}
	overhead, err := amounts("spec.overhead", p.Spec.Overhead)
	if err != nil {
		return nil, err
	}
	add(total, overhead)
	return total, nil
}

func ofContainers(spec *fairlead.PodSpec) (map[string]Amount, error) {
	total, beside := map[string]Amount{}, map[string]Amount{}
	for i := range spec.Containers {
		asks, err := amounts(fmt.Sprintf("spec.containers[%d].resources.requests", i), spec.Containers[i].Resources.Requests)
		if err != nil {
			return nil, err
		}
		add(total, asks)
	}
	most := map[string]Amount{}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		asks, err := amounts(fmt.Sprintf("spec.initContainers[%d].resources.requests", i), c.Resources.Requests)
		if err != nil {
			return nil, err
		}
		if c.RestartPolicy == "Always" {
			add(total, asks)
			add(beside, asks)
			atLeast(most, beside)
			continue
		}
		add(asks, beside)
		atLeast(most, asks)
	}
	atLeast(total, most)
	return total, nil
}

func add(to, more map[string]Amount) {
	for name, a := range more {
		to[name] = to[name].Add(a)
	}
}

func atLeast(to, least map[string]Amount) {
	for name, a := range least {
		if have, ok := to[name]; !ok || have.Compare(a) < 0 {
			to[name] = a
		}
	}
}

// amounts reads quantities. The caller owns the result.
func amounts(path string, texts map[string]string) (map[string]Amount, error) {
	all := make(map[string]Amount, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		a, err := ParseAmount(texts[name])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", path, name, err)
		}
		all[name] = a
	}
	return all, nil
}

// counted returns an amount as the scheduler counts it: in thousandths for cpu,
// in whole units for the rest, rounded up.
func counted(name string, a Amount) int64 {
	if name == cpu {
		return a.CeilMilli()
	}
	return a.Ceil()
}
