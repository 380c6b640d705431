package config

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
)

// LabelSelector picks objects by their labels.
type LabelSelector = fairlead.LabelSelector

// Toleration lets pods onto nodes with a taint.
type Toleration = fairlead.Toleration

// Config is spec.config of a subscription. Its JSON form is that of the API;
// what is passed on to the pods unchanged is kept as JSON.
type Config struct {
	// Selector is accepted and does nothing, as in the reference.
	Selector *LabelSelector `json:"selector,omitempty"`
	// Env is set in every container and replaces variables of the same name.
	Env []EnvVar `json:"env,omitempty"`
	// EnvFrom are sources of environment variables. Each is added to every
	// container that does not have an equal one.
	EnvFrom []json.RawMessage `json:"envFrom,omitempty"`
	// Volumes are added to the pod and replace volumes of the same name.
	Volumes []Named `json:"volumes,omitempty"`
	// VolumeMounts are added to every container and replace mounts of volumes of
	// the same name.
	VolumeMounts []Named `json:"volumeMounts,omitempty"`
	// NodeSelector replaces the pod's, unless it is nil.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Affinity overrides parts of the pod's affinity.
	Affinity *Affinity `json:"affinity,omitempty"`
	// Tolerations are added to the pod's, unless it has an equal one.
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// Resources replace those of every container, unless empty.
	Resources json.RawMessage `json:"resources,omitempty"`
	// Annotations are added to those of the deployment and its pods; existing
	// ones are kept.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// EnvVar is one variable of an environment.
type EnvVar struct {
	Name      string          `json:"name"`                // the variable
	Value     string          `json:"value,omitempty"`     // its value; an empty one unsets a proxy
	ValueFrom json.RawMessage `json:"valueFrom,omitempty"` // where the value comes from, instead of Value
}

// Affinity overrides the affinity of pods. A part that is nil changes nothing;
// an empty object removes the pod's part. If all parts are nil, all are removed.
type Affinity struct {
	NodeAffinity    json.RawMessage `json:"nodeAffinity,omitempty"`    // to nodes
	PodAffinity     json.RawMessage `json:"podAffinity,omitempty"`     // to pods
	PodAntiAffinity json.RawMessage `json:"podAntiAffinity,omitempty"` // away from pods
}

// Named is a JSON object with a name: a volume or a volume mount.
type Named struct {
	Name string          // the volume's
	JSON json.RawMessage // the whole object
}

// MarshalJSON implements json.Marshaler.
func (n Named) MarshalJSON() ([]byte, error) { return n.JSON, nil }

// UnmarshalJSON implements json.Unmarshaler. An object without a name is an
// error.
func (n *Named) UnmarshalJSON(data []byte) error {
	var o struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	if o.Name == "" {
		return fmt.Errorf("%s: the name is missing", data)
	}
	n.Name, n.JSON = o.Name, append(json.RawMessage(nil), data...)
	return nil
}

// The environment variables that tell programs which proxy to use.
const (
	HTTPProxy  = "HTTP_PROXY"
	HTTPSProxy = "HTTPS_PROXY"
	NoProxy    = "NO_PROXY"
)

// ConditionNameVariable tells an operator the name of its OperatorCondition.
const ConditionNameVariable = "OPERATOR_CONDITION_NAME"

// Proxy is the proxy of a cluster. Empty fields are not set.
type Proxy struct {
	HTTP  string `json:"httpProxy,omitempty"`  // for http
	HTTPS string `json:"httpsProxy,omitempty"` // for https
	No    string `json:"noProxy,omitempty"`    // what is reached without a proxy
}

// Environment returns the variables that every container of an operator gets:
//
//  1. Those of the config.
//  2. Those of the cluster's proxy, unless the config sets any of the three, even
//     to an empty value: they count as one.
//  3. ConditionNameVariable with the name of the CSV, unless that is "".
func (c *Config) Environment(proxy *Proxy, csv string) []EnvVar {
	var env []EnvVar
	own := false
	if c != nil {
		env = append(env, c.Env...)
		for _, e := range c.Env {
			own = own || e.Name == HTTPProxy || e.Name == HTTPSProxy || e.Name == NoProxy
		}
	}
	if proxy != nil && !own {
		for _, e := range []EnvVar{{Name: HTTPProxy, Value: proxy.HTTP}, {Name: HTTPSProxy, Value: proxy.HTTPS}, {Name: NoProxy, Value: proxy.No}} {
			if e.Value != "" {
				env = append(env, e)
			}
		}
	}
	if csv != "" {
		env = append(env, EnvVar{Name: ConditionNameVariable, Value: csv})
	}
	return env
}
