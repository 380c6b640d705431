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

// auditPolicy logs every request: what was asked, by whom, and the answer. Of
// deletions and evictions it logs what was sent, too, for the preconditions; of
// statuses that are written, what was sent and what came of it.
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

// A Request is one that the API server received, taken from its audit log.
type Request struct {
	// ID is unique to the request.
	ID string
	// Verb is what was asked for: get, list, watch, create, update, patch,
	// delete, deletecollection; for what is not a resource, the method in lower
	// case.
	Verb string
	// Group, Resource and Subresource say on what. All are empty for paths that
	// are not resources.
	Group, Resource, Subresource string
	// Namespace and Name are those of the object. Name is empty where a request
	// is not about one object, and where the server is asked to make a name up.
	Namespace, Name string
	// User is who asked, UserAgent the program.
	User, UserAgent string
	// URI is the path and query.
	URI string
	// Code is the status of the answer. It is 200 for a watch that is open.
	Code int
	// Received is when the request came, Answered when its answer was complete;
	// of a watch that is open, when the answer began.
	Received, Answered time.Time
	// Delete are the options that came with a deletion or an eviction; nil with
	// other requests and if none came.
	Delete *metav1.DeleteOptions
	// Idle says that a status was written that the object had already. It is told
	// of the statuses that the audit's policy names.
	Idle bool
}

// PreconditionUID returns the UID that the object of a deletion or an eviction
// had to have, and "" if none was asked for.
func (r *Request) PreconditionUID() types.UID {
	if r.Delete == nil || r.Delete.Preconditions == nil || r.Delete.Preconditions.UID == nil {
		return ""
	}
	return *r.Delete.Preconditions.UID
}

// FieldManager returns the field manager that a request named, and whether it
// took fields from others by force.
func (r *Request) FieldManager() (manager string, force bool) {
	uri, err := url.Parse(r.URI)
	if err != nil {
		return "", false // the server parsed it, so it cannot be
	}
	query := uri.Query()
	return query.Get("fieldManager"), query.Get("force") == "true"
}

// A Filter selects requests. Fields that are empty select all.
type Filter struct {
	// User, Verb, Namespace and Name are compared with those of the request.
	User, Verb, Namespace, Name string
	// Resource is a resource, or a resource and a subresource as in
	// "pods/eviction". Without a subresource it selects requests without.
	Resource string
	// Since selects what was received at this time or later.
	Since time.Time
	// Where selects by whatever else.
	Where func(*Request) bool
}

// selects reports whether the request is among the selected.
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

// Requests returns those requests of the cluster's life that the filter selects,
// in the order in which they were answered, watches by when they began. A
// request is there once a client has read its answer to the end. It can be
// called while the API server is stopped. The caller owns the list.
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

// An auditLog reads a log that grows.
type auditLog struct {
	mu       sync.Mutex
	offset   int64 // what was read so far; the beginning of a line
	requests []Request
	places   map[string]int // of requests, by ID
}

// read takes in what was added to the file. The caller holds the lock.
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
	// The last line may be half written.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		if err := l.add(line); err != nil {
			return fmt.Errorf("%s, after %d bytes: %w", name, l.offset, err)
		}
		l.offset += int64(len(line))
	}
	return nil
}

// event is the part of an audit event that is of interest here.
type event struct {
	AuditID    string
	Stage      string
	RequestURI string
	Verb       string
	User       struct{ Username string }
	UserAgent  string
	ObjectRef  struct{ APIGroup, Resource, Subresource, Namespace, Name string }

	ResponseStatus           struct{ Code int }
	RequestObject            json.RawMessage
	ResponseObject           json.RawMessage
	RequestReceivedTimestamp time.Time
	StageTimestamp           time.Time
}

// add takes in one line. A watch has two: when it begins and when it ends.
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

// idle reports whether a write was answered with the version that it was sent on. A dry
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

// deleteOptions returns what was sent with a deletion or inside an eviction.
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
