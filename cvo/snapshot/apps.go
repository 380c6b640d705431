package snapshot

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// CronJob starts Jobs by the clock.
type CronJob struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		Schedule                string `json:"schedule"`                          // in the form of cron
		TimeZone                string `json:"timeZone,omitempty"`                // of the schedule; empty for that of the controller
		Suspend                 bool   `json:"suspend,omitempty"`                 // no Jobs are started
		StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"` // how late a Job may start; nil for no limit
		ConcurrencyPolicy       string `json:"concurrencyPolicy,omitempty"`       // Allow, Forbid or Replace; empty means Allow
	} `json:"spec"` // the desired state
	Status struct {
		Active             []ObjectReference `json:"active,omitempty"`            // Jobs that run
		LastScheduleTime   time.Time         `json:"lastScheduleTime,omitzero"`   // for when the last Job was started
		LastSuccessfulTime time.Time         `json:"lastSuccessfulTime,omitzero"` // when a Job succeeded last
	} `json:"status"` // the reported state
}

// Autoscaler is a HorizontalPodAutoscaler.
type Autoscaler struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		ScaleTargetRef ObjectReference `json:"scaleTargetRef"`        // what it scales
		MinReplicas    *int            `json:"minReplicas,omitempty"` // nil means 1
		MaxReplicas    int             `json:"maxReplicas"`           // at most so many
	} `json:"spec"` // the desired state
	Status struct {
		CurrentReplicas int                  `json:"currentReplicas,omitempty"` // as it saw them last
		DesiredReplicas int                  `json:"desiredReplicas,omitempty"` // as it computed them last
		Conditions      []fairlead.Condition `json:"conditions,omitempty"`      // AbleToScale, ScalingActive, ScalingLimited
	} `json:"status"` // the reported state
}

// Quota is a ResourceQuota.
type Quota struct {
	fairlead.ObjectMeta `json:"metadata"`

	Status struct {
		Hard map[string]string `json:"hard,omitempty"` // what may be used, by resource
		Used map[string]string `json:"used,omitempty"` // what is
	} `json:"status"` // the reported state
}

// Service gives pods a name.
type Service struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		Type              string            `json:"type,omitempty"`              // ClusterIP, NodePort, LoadBalancer or ExternalName
		Selector          map[string]string `json:"selector,omitempty"`          // labels of its pods; none: others make its endpoints
		LoadBalancerClass string            `json:"loadBalancerClass,omitempty"` // who makes the load balancer; empty for the default
		Ports             []ServicePort     `json:"ports,omitempty"`             // where it is reached
	} `json:"spec"` // the desired state
	Status struct {
		LoadBalancer Addresses `json:"loadBalancer,omitzero"` // where it is reached from outside
	} `json:"status"` // the reported state
}

// ServicePort is a port of a Service.
type ServicePort struct {
	TargetPort string `json:"targetPort,omitempty"` // the number of a port of its pods, or the name of one; empty for the same number
}

// UnmarshalJSON reads the target as the number or the name that it is.
func (p *ServicePort) UnmarshalJSON(data []byte) error {
	var in struct {
		TargetPort json.RawMessage `json:"targetPort"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if p.TargetPort = string(in.TargetPort); strings.HasPrefix(p.TargetPort, `"`) {
		return json.Unmarshal(in.TargetPort, &p.TargetPort)
	}
	return nil
}

// Addresses are where something is reached from outside the cluster.
type Addresses struct {
	Ingress []struct{} `json:"ingress,omitempty"` // one for each; what they are is not kept
}

// Endpoints are the addresses behind the Service of the same name.
type Endpoints struct {
	fairlead.ObjectMeta `json:"metadata"`

	Subsets []struct {
		Addresses         []struct{} `json:"addresses,omitempty"`         // those that are ready
		NotReadyAddresses []struct{} `json:"notReadyAddresses,omitempty"` // the others
	} `json:"subsets,omitempty"` // by ports
}

// EndpointSlice has some of the addresses behind a Service, which a label names.
type EndpointSlice struct {
	fairlead.ObjectMeta `json:"metadata"`

	Endpoints []struct {
		Conditions struct {
			Ready *bool `json:"ready,omitempty"` // nil means true
		} `json:"conditions,omitzero"` // its state
	} `json:"endpoints,omitempty"` // in any order
}

// ServiceLabel is the label of an EndpointSlice that names its Service.
const ServiceLabel = "kubernetes.io/service-name"

// Ingress leads requests from outside to Services.
type Ingress struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		ClassName      *string  `json:"ingressClassName,omitempty"` // who implements it; nil for the default
		DefaultBackend *Backend `json:"defaultBackend,omitempty"`   // for what no rule matches
		Rules          []struct {
			HTTP *struct {
				Paths []struct {
					Backend Backend `json:"backend"` // who answers
				} `json:"paths"` // in this order
			} `json:"http,omitempty"` // nil for the default backend
		} `json:"rules,omitempty"` // for hosts
	} `json:"spec"` // the desired state
	Status struct {
		LoadBalancer Addresses `json:"loadBalancer,omitzero"` // where it is reached
	} `json:"status"` // the reported state
}

// Backend is who answers the requests of an Ingress.
type Backend struct {
	Service *struct {
		Name string `json:"name"` // in the namespace of the Ingress
	} `json:"service,omitempty"` // nil for another kind
}

// Route leads requests from outside to a Service, on OpenShift.
type Route struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		To struct {
			Kind string `json:"kind,omitempty"` // Service; empty means Service
			Name string `json:"name"`           // in the namespace of the Route
		} `json:"to"` // who answers
	} `json:"spec"` // the desired state
	Status struct {
		Ingress []struct {
			RouterName string               `json:"routerName,omitempty"` // of the router
			Conditions []fairlead.Condition `json:"conditions,omitempty"` // Admitted
		} `json:"ingress,omitempty"` // by router
	} `json:"status"` // the reported state
}
