package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// auditPolicy logs every request: what was requested, by whom, and the answer.
// For deletions and evictions it also logs the request body, because of the
// preconditions; for writes of some statuses the bodies of request and answer.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [delete, deletecollection]
- level: Request
  verbs: [create]
  resources: [{group: "", resources: [pods/eviction]}]
- level: RequestResponse
  verbs: [update]
  resources:
  - {group: config.openshift.io, resources: [clusterversions/status]}
  - {group: machineconfiguration.openshift.io, resources: [machineconfigpools/status]}
- level: Metadata
`

// A Request is a request that the API server received, taken from its audit
// log.
type Request struct {
	// ID is unique to the request.
	ID string
	// Verb is the verb: get, list, watch, create, update, patch, delete,
	// deletecollection; for paths that are not resources, the method in lower
	// case.
	Verb string
	// Group, Resource and Subresource are those of the object. All are empty
	// for paths that are not resources.
	Group, Resource, Subresource string
	// Namespace and Name are those of the object. Name is empty if a request is
	// not about one object, or if the server generates the name.
	Namespace, Name string
	// User is the user who made the request, UserAgent the program.
	User, UserAgent string
	// As is the user that it impersonated, if it did.
	As string
	// URI is the path and query.
	URI string
	// Code is the status of the answer. It is 200 for an open watch.
	Code int
	// Received is when the request arrived, Answered when its answer was
	// complete; for an open watch, when the answer began.
	Received, Answered time.Time
	// Delete contains the options of a deletion or an eviction; nil for other
	// requests and if there were none.
	Delete *metav1.DeleteOptions
	// Idle reports that a written status was the one that the object already had.
	// It is set only for the statuses named in the audit policy.
	Idle bool
}

// PreconditionUID returns the UID precondition of a deletion or an eviction;
// "" if there was none.
func (r *Request) PreconditionUID() types.UID {
	if r.Delete == nil || r.Delete.Preconditions == nil || r.Delete.Preconditions.UID == nil {
		return ""
	}
	return *r.Delete.Preconditions.UID
}

// FieldManager returns the field manager of a request, and whether it took
// over fields of others by force.
func (r *Request) FieldManager() (manager string, force bool) {
	uri, err := url.Parse(r.URI)
	if err != nil {
		return "", false // cannot happen, because the server has parsed it
	}
	query := uri.Query()
	return query.Get("fieldManager"), query.Get("force") == "true"
}

// A Filter selects requests. Empty fields select all.
type Filter struct {
	// User, Verb, Namespace and Name are compared with those of the request.
	User, Verb, Namespace, Name string
	// Resource is a resource, or a resource and a subresource as in
	// "pods/eviction". Without a subresource it selects only requests without
	// one.
	Resource string
	// Since selects requests received at this time or later.
	Since time.Time
	// Where selects by any other criterion.
	Where func(*Request) bool
}

// selects reports whether the filter selects a request.
func (f *Filter) selects(r *Request) bool {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	for _, pair := range [][2]string{
		{f.User, r.User},
		{f.Verb, r.Verb},
		{f.Namespace, r.Namespace},
		{f.Name, r.Name},
		{f.Resource, resource},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return !r.Received.Before(f.Since) && (f.Where == nil || f.Where(r))
}

// Requests returns the requests since the start of the cluster that the filter
// selects, in the order in which they were answered, watches by when they began.
// It includes a request as soon as a client has read the complete answer. It can
// be called while the API server is stopped. The caller owns the list.
func (c *Cluster) Requests(filter Filter) ([]Request, error) {
	c.audit.mu.Lock()
	defer c.audit.mu.Unlock()
	if err := c.audit.read(c.file("audit.log")); err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	var selected []Request
	for i := range c.audit.requests {
		if filter.selects(&c.audit.requests[i]) {
			selected = append(selected, c.audit.requests[i])
		}
	}
	return selected, nil
}

// An auditLog reads a growing log.
type auditLog struct {
	mu       sync.Mutex
	offset   int64 // how far the log was read; the beginning of a line
	requests []Request
	places   map[string]int // positions of requests, by ID
}

// read reads what was added to the file. The lock must be held.
func (l *auditLog) read(name string) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(l.offset, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	// The last line may be incomplete.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		if err := l.add(line); err != nil {
			return fmt.Errorf("%s, after %d bytes: %w", name, l.offset, err)
		}
		l.offset += int64(len(line))
	}
	return nil
}

// event is the part of an audit event that is used here.
type event struct {
	AuditID          string
	Stage            string
	RequestURI       string
	Verb             string
	User             struct{ Username string }
	ImpersonatedUser struct{ Username string }
	UserAgent        string
	ObjectRef        struct{ APIGroup, Resource, Subresource, Namespace, Name string }

	ResponseStatus           struct{ Code int }
	RequestObject            json.RawMessage
	ResponseObject           json.RawMessage
	RequestReceivedTimestamp time.Time
	StageTimestamp           time.Time
}

// add adds one line. A watch has two: when it begins and when it ends.
func (l *auditLog) add(line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	options, err := e.deleteOptions()
	if err != nil {
		return err
	}
	idle, err := e.idle()
	if err != nil {
		return err
	}
	request := Request{
		ID:          e.AuditID,
		Verb:        e.Verb,
		Group:       e.ObjectRef.APIGroup,
		Resource:    e.ObjectRef.Resource,
		Subresource: e.ObjectRef.Subresource,
		Namespace:   e.ObjectRef.Namespace,
		Name:        e.ObjectRef.Name,
		User:        e.User.Username,
		As:          e.ImpersonatedUser.Username,
		UserAgent:   e.UserAgent,
		URI:         e.RequestURI,
		Code:        e.ResponseStatus.Code,
		Received:    e.RequestReceivedTimestamp,
		Answered:    e.StageTimestamp,
		Delete:      options,
		Idle:        idle,
	}
	if l.places == nil {
		l.places = map[string]int{}
	}
	if i, ok := l.places[e.AuditID]; ok {
		l.requests[i] = request
		return nil
	}
	l.places[e.AuditID] = len(l.requests)
	l.requests = append(l.requests, request)
	return nil
}

// idle reports whether the answer to a write has the same version as the request. A dry
// run writes nothing.
func (e *event) idle() (bool, error) {
	if e.Verb != "update" || strings.Contains(e.RequestURI, "dryRun=All") || e.ResponseStatus.Code != 200 || e.RequestObject == nil || e.ResponseObject == nil {
		return false, nil
	}
	var sent, got struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := errors.Join(json.Unmarshal(e.RequestObject, &sent), json.Unmarshal(e.ResponseObject, &got)); err != nil {
		return false, fmt.Errorf("the bodies of request %s: %w", e.AuditID, err)
	}
	return sent.Metadata.ResourceVersion == got.Metadata.ResourceVersion, nil
}

// deleteOptions returns the options of a deletion or in an eviction.
func (e *event) deleteOptions() (*metav1.DeleteOptions, error) {
	if e.RequestObject == nil || e.Verb == "update" {
		return nil, nil
	}
	if e.ObjectRef.Subresource == "eviction" {
		var eviction struct{ DeleteOptions *metav1.DeleteOptions }
		if err := json.Unmarshal(e.RequestObject, &eviction); err != nil {
			return nil, fmt.Errorf("the body of request %s: %w", e.AuditID, err)
		}
		return eviction.DeleteOptions, nil
	}
	options := &metav1.DeleteOptions{}
	if err := json.Unmarshal(e.RequestObject, options); err != nil {
		return nil, fmt.Errorf("the body of request %s: %w", e.AuditID, err)
	}
	return options, nil
}
