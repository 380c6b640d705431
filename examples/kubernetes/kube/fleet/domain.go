package fleet

import (
	"fmt"
	"maps"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// planeTemplate is the template for machines of a control plane.
type planeTemplate struct {
	FailureDomains failureDomains `json:"failureDomains"`
	Metadata       struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec map[string]any `json:"spec"`
}

// failureDomains are the failure domains for machines of a control plane, on
// one platform.
type failureDomains struct {
	Platform string      `json:"platform"`
	AWS      []awsDomain `json:"aws"`
	Azure    []zone      `json:"azure"`
	GCP      []zone      `json:"gcp"`
}

type awsDomain struct {
	Subnet *struct {
		Type    string `json:"type"` // ID, ARN or Filters
		ID      string `json:"id"`
		ARN     string `json:"arn"`
		Filters []any  `json:"filters"`
	} `json:"subnet"`
	Placement struct {
		AvailabilityZone string `json:"availabilityZone"`
	} `json:"placement"`
}

type zone struct {
	Zone   string `json:"zone"`
	Subnet string `json:"subnet"` // on Azure
}

// overlays returns what each domain sets in a providerSpec, in order; none if there are
// no domains.
func (f *failureDomains) overlays() ([]map[string]any, error) {
	var all []map[string]any
	switch f.Platform {
	case "":
	case "AWS":
		for _, d := range f.AWS {
			o := map[string]any{}
			if d.Placement.AvailabilityZone != "" {
				o["placement"] = map[string]any{"availabilityZone": d.Placement.AvailabilityZone}
			}
			if s := d.Subnet; s != nil {
				o["subnet"] = map[string]any{strings.ToLower(s.Type): map[string]any{"ID": s.ID, "ARN": s.ARN, "Filters": s.Filters}[s.Type]}
			}
			all = append(all, o)
		}
	case "Azure", "GCP":
		for _, d := range append(f.Azure, f.GCP...) {
			o := map[string]any{"zone": d.Zone}
			if d.Subnet != "" {
				o["subnet"] = d.Subnet
			}
			all = append(all, o)
		}
	default:
		return nil, &fairlead.FieldError{
			Path:    "spec.template.machines_v1beta1_machine_openshift_io.failureDomains.platform",
			Problem: fmt.Sprintf("failure domains of %s are not supported here; leave the set to OpenShift's operator", f.Platform),
		}
	}
	return all, nil
}

// value returns the providerSpec for a machine in a domain.
func (t *planeTemplate) value(domain map[string]any) map[string]any {
	spec, _ := t.Spec["providerSpec"].(map[string]any)
	value, _ := spec["value"].(map[string]any)
	return within(value, domain)
}

// within returns a providerSpec with the settings of a domain.
func within(value, domain map[string]any) map[string]any {
	value = runtime.DeepCopyJSON(value)
	for k, v := range domain {
		if old, ok := value[k].(map[string]any); ok && k == "placement" { // which also has other fields
			maps.Copy(old, v.(map[string]any))
			continue
		}
		if value == nil {
			value = map[string]any{}
		}
		value[k] = runtime.DeepCopyJSONValue(v)
	}
	return value
}

// domainOf returns the domain that a providerSpec is in, and its position; nil and -1 if
// it is in none.
func (t *planeTemplate) domainOf(value map[string]any) (map[string]any, int) {
	all, _ := t.FailureDomains.overlays() // checked earlier
	for i, d := range all {
		if equality.Semantic.DeepEqual(within(value, d), value) {
			return d, i
		}
	}
	return nil, -1
}

// domainFor returns the domain for the new machine of an index: that of the last
// machine with the index, or else the first one with the fewest machines.
func (t *planeTemplate) domainFor(plane *fleet.ControlPlane, own []*lifecycle.Machine, place int) (map[string]any, error) {
	all, err := t.FailureDomains.overlays()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	used := make([]int, len(all))
	last := -1 // of the machines
	at := -1
	for i, m := range own {
		value, err := provided(m)
		if err != nil {
			return nil, err
		}
		_, d := t.domainOf(value)
		if d < 0 {
			continue
		}
		used[d]++
		if plane.Machines[i].Index == place && (last < 0 || own[last].CreationTimestamp.Before(m.CreationTimestamp)) {
			last, at = i, d
		}
	}
	if at < 0 {
		at = 0
		for i := range used {
			if used[i] < used[at] {
				at = i
			}
		}
	}
	return all[at], nil
}
