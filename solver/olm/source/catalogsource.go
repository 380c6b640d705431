package source

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// Toleration lets pods onto nodes with a taint.
type Toleration = fairlead.Toleration

// The annotations of a CatalogSource.
const (
	// ImageTemplateAnnotation is an image with variables; see Image.
	ImageTemplateAnnotation = "olm.catalogImageTemplate"
	// PriorityClassAnnotation names the priority class of the pod, and overrides
	// the one in the spec.
	PriorityClassAnnotation = "operatorframework.io/priorityclass"
	// ManagedByAnnotation names the operator that manages the object.
	ManagedByAnnotation = "operatorframework.io/managed-by"
)

// marketplace is the operator that manages the default catalogs.
const marketplace = "marketplace-operator"

// CatalogSource is a catalog of operators in a cluster.
type CatalogSource struct {
	ObjectMeta `json:"metadata"`
	Spec       Spec   `json:"spec"`   // its desired state
	Status     Status `json:"status"` // its observed state
}

// Type says where the content of a catalog comes from.
type Type string

// The types of the API.
const (
	TypeGRPC      Type = "grpc"      // an image that serves it, or the address of a server
	TypeConfigMap Type = "configmap" // a config map; a pod serves it
	TypeInternal  Type = "internal"  // the old name of configmap
)

// Spec is the desired state of a CatalogSource.
type Spec struct {
	SourceType  Type   `json:"sourceType"`            // see Check
	Image       string `json:"image,omitempty"`       // for grpc; see CatalogSource.Image
	Address     string `json:"address,omitempty"`     // for grpc without an image: host:port
	ConfigMap   string `json:"configMap,omitempty"`   // for configmap and internal
	DisplayName string `json:"displayName,omitempty"` // for people
	Publisher   string `json:"publisher,omitempty"`   // for people
	// Priority decides between catalogs; higher is preferred, 0 is the default.
	Priority       int             `json:"priority,omitempty"`
	GRPCPodConfig  *PodConfig      `json:"grpcPodConfig,omitempty"`  // for grpc with an image
	UpdateStrategy *UpdateStrategy `json:"updateStrategy,omitempty"` // if nil, the image is never pulled again
}

// PodConfig overrides how the pod of a catalog runs. Nil fields override nothing.
type PodConfig struct {
	NodeSelector          map[string]string `json:"nodeSelector,omitempty"`          // where it may run
	Tolerations           []Toleration      `json:"tolerations,omitempty"`           // where it may run as well
	PriorityClassName     *string           `json:"priorityClassName,omitempty"`     // "" means the cluster's default
	SecurityContextConfig SecurityMode      `json:"securityContextConfig,omitempty"` // empty means SecurityLegacy
}

// SecurityMode says with which privileges the pod of a catalog runs.
type SecurityMode string

// The modes of the API.
const (
	SecurityLegacy     SecurityMode = "legacy"     // with the privileges that old images need
	SecurityRestricted SecurityMode = "restricted" // by the restricted pod security standard
)

// UpdateStrategy says how a catalog is kept up to date.
type UpdateStrategy struct {
	RegistryPoll *RegistryPoll `json:"registryPoll,omitempty"` // by polling the registry
}

// RegistryPoll says how often the registry is polled for a new image.
type RegistryPoll struct {
	Interval string `json:"interval,omitempty"` // such as 30m or 1h30m0s
}

// Status is the observed state of a CatalogSource.
type Status struct {
	Message                 string           `json:"message,omitempty"`                // explains Reason
	Reason                  string           `json:"reason,omitempty"`                 // a word for programs
	ConnectionState         *ConnectionState `json:"connectionState,omitempty"`        // nil before the first attempt to connect
	LatestImageRegistryPoll time.Time        `json:"latestImageRegistryPoll,omitzero"` // when the registry was last polled
}

// ConnectionState is the state of the connection to a catalog's server.
type ConnectionState struct {
	Address           string    `json:"address,omitempty"`           // of the server
	LastObservedState State     `json:"lastObservedState,omitempty"` // as last observed
	LastConnect       time.Time `json:"lastConnect,omitzero"`        // when LastObservedState began
}

// State is the state of a gRPC connection.
type State string

// The states.
const (
	StateIdle             State = "IDLE"              // there are no requests
	StateConnecting       State = "CONNECTING"        // it is being set up
	StateReady            State = "READY"             // it works
	StateTransientFailure State = "TRANSIENT_FAILURE" // it failed, and is retried
	StateShutdown         State = "SHUTDOWN"          // it was closed
)

// Key returns the name by which subscriptions refer to the catalog.
func (c *CatalogSource) Key() resource.SourceKey {
	return resource.SourceKey{Name: c.Name, Namespace: c.Namespace}
}

// Check returns an error if the spec lacks what its type needs: an image (or a
// template of one) or an address for grpc, a config map for the others.
func (c *CatalogSource) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("catalog source %s: %s", c.ObjectMeta, fmt.Sprintf(format, args...))
	}
	s := &c.Spec
	switch s.SourceType {
	case TypeGRPC:
		if s.Image == "" && s.Address == "" && c.Annotations[ImageTemplateAnnotation] == "" {
			return bad("type grpc needs an image or an address; set spec.image or spec.address")
		}
	case TypeConfigMap, TypeInternal:
		if s.ConfigMap == "" {
			return bad("type %s needs a config map; set spec.configMap", s.SourceType)
		}
	default:
		return bad("there is no type %q; set spec.sourceType to grpc or configmap", s.SourceType)
	}
	if p := s.GRPCPodConfig; p != nil {
		switch p.SecurityContextConfig {
		case "", SecurityLegacy, SecurityRestricted:
		default:
			return bad("there is no security mode %q; set spec.grpcPodConfig.securityContextConfig to legacy or restricted", p.SecurityContextConfig)
		}
	}
	return nil
}

// Err returns nil if the catalog can be used, and otherwise an error that says why
// not: a spec that Check refuses, or a connection that is not ready. It is a value
// for olm.Source.Err.
func (c *CatalogSource) Err() error {
	if err := c.Check(); err != nil {
		return err
	}
	conn := c.Status.ConnectionState
	switch {
	case conn == nil || conn.LastObservedState == "":
		return fmt.Errorf("catalog source %s: no connection was tried yet; wait for it", c.ObjectMeta)
	case conn.LastObservedState == StateReady:
		return nil
	}
	return fmt.Errorf("catalog source %s: the connection to %s is %s since %s; check whether its pod runs and its image can be pulled, or delete the catalog source",
		c.ObjectMeta, conn.Address, conn.LastObservedState, conn.LastConnect.UTC().Format(time.RFC3339))
}

// Health returns what a subscription's status shows of the catalog.
func (c *CatalogSource) Health() resource.CatalogHealth {
	return resource.CatalogHealth{Source: c.Key(), Healthy: c.Err() == nil}
}

// Connect returns the state of the connection after an observation. LastConnect
// changes with the state or the address, not with every observation.
func (s *Status) Connect(address string, seen State, now time.Time) *ConnectionState {
	if old := s.ConnectionState; old != nil && old.Address == address && old.LastObservedState == seen {
		same := *old
		return &same
	}
	return &ConnectionState{Address: address, LastObservedState: seen, LastConnect: now}
}
