package drain

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is the kind of requests. They are cluster-scoped.
var Kind = schema.GroupVersionKind{Group: "fairlead.io", Version: "v1alpha1", Kind: "DrainRequest"}

// Spec is the spec of a request.
type Spec struct {
	NodeName  string        `json:"nodeName"`            // the node; it cannot be changed
	NodeUID   string        `json:"nodeUID,omitempty"`   // the UID of the node; empty means any node with the name
	Requester string        `json:"requester"`           // who requests it
	Why       string        `json:"why,omitempty"`       // the reason, as text
	Purpose   drain.Purpose `json:"purpose,omitempty"`   // empty means Maintenance
	Until     *time.Time    `json:"until,omitempty"`     // the time when it ends by itself
	Paused    bool          `json:"paused,omitempty"`    // nothing more is done for it, and nothing is undone
	Cancelled bool          `json:"cancelled,omitempty"` // it is withdrawn, as by deleting it
	// Priority makes it get slots before requests with a lower priority.
	Priority int `json:"priority,omitempty"`
	// ReplaceFirst has the node replaced before it is drained, where
	// possible; see drain.Request.
	ReplaceFirst bool `json:"replaceFirst,omitempty"`
	// Fenced confirms that the node is powered off, or cut off from storage
	// and network, and stays that way.
	Fenced bool `json:"fenced,omitempty"`
}

// requestOf decodes a request, and its spec.
func requestOf(u *unstructured.Unstructured) (drain.Request, Spec, error) {
	var held struct {
		Spec   Spec         `json:"spec"`
		Status drain.Status `json:"status"`
	}
	if err := kube.Decode(u, &held); err != nil {
		return drain.Request{}, Spec{}, fmt.Errorf("drain request %s cannot be read: %w; correct it, or delete it", u.GetName(), err)
	}
	r := drain.Request{
		Name: u.GetName(), UID: string(u.GetUID()), Requester: held.Spec.Requester, Why: held.Spec.Why, Purpose: held.Spec.Purpose,
		NodeUID: held.Spec.NodeUID, Asked: u.GetCreationTimestamp().Time, Paused: held.Spec.Paused,
		Priority: held.Spec.Priority, ReplaceFirst: held.Spec.ReplaceFirst,
		Cancelled: held.Spec.Cancelled || u.GetDeletionTimestamp() != nil, Status: held.Status,
	}
	if r.Purpose == "" {
		r.Purpose = drain.Maintenance
	}
	if held.Spec.Until != nil {
		r.Until = *held.Spec.Until
	}
	return r, held.Spec, nil
}
