package operators_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// service is a catalog service in memory, which records its calls.
type service struct {
	revision string
	versions []shelf.Version
	err      error
	asked    []string
}

func (s *service) Catalog(ctx context.Context, address, revision string) (*catalog.Catalog, string, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s %q", address, revision))
	if s.err != nil || s.revision == revision {
		return nil, revision, s.err
	}
	c, err := catalog.Open(ctx, fstest.MapFS{"catalog.json": {Data: []byte(shelf.Catalog(s.versions...))}}, nil)
	return c, s.revision, err
}

// TestServices installs from the catalog of a service, which is polled as often as
// its source says and read when it has changed. While the service is down,
// installed operators stay and there are no updates; when it is back, the update
// is made.
func TestServices(t *testing.T) {
	pipes := func(number, replaces string) shelf.Version {
		v := onlyPipes()
		v.Number, v.Replaces = number, replaces
		return v
	}
	s := &service{revision: "a", versions: []shelf.Version{pipes("1.0.0", "")}}
	w := newWorld(t, &operators.BackendOptions{Services: s, Tenants: operators.Tenants{Hosts: []string{"plumbing.shop.svc"}}})
	w.stock("Automatic")
	source := w.get(catalogKind, ns, "plumbing")
	source.Object["spec"] = map[string]any{
		"sourceType": "grpc", "address": "plumbing.shop.svc:50051",
		"updateStrategy": map[string]any{"registryPoll": map[string]any{"interval": "5m"}},
	}
	w.must(w.client.Update(t.Context(), source))
	w.run(60)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	if want := []string{`plumbing.shop.svc:50051 ""`}; !slices.Equal(s.asked, want) {
		t.Errorf("asked %q, want %q", s.asked, want)
	}
	state := func() string {
		source := w.get(catalogKind, ns, "plumbing")
		state, _, _ := unstructured.NestedString(source.Object, "status", "connectionState", "lastObservedState")
		message, _, _ := unstructured.NestedString(source.Object, "status", "message")
		return strings.TrimSpace(state + " " + message)
	}
	if got := state(); got != "READY" {
		t.Errorf("the source is %q", got)
	}

	w.clock.Advance(5 * time.Minute)
	w.run(20)
	if want := []string{`plumbing.shop.svc:50051 ""`, `plumbing.shop.svc:50051 "a"`}; !slices.Equal(s.asked, want) {
		t.Errorf("asked %q, want %q", s.asked, want)
	}

	s.err = errors.New("connection refused")
	w.clock.Advance(5 * time.Minute)
	for range 5 {
		_, _ = w.pass()
	}
	if got := state(); !strings.HasPrefix(got, "TRANSIENT_FAILURE what it had at 2026-03-01T12:05:") || strings.Contains(got, "refused") {
		t.Errorf("while the service is down the source is %q", got)
	}
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})

	s.err, s.revision, s.versions = nil, "b", []shelf.Version{pipes("1.0.0", ""), pipes("1.1.0", "1.0.0")}
	w.clock.Advance(operators.RetryCatalog)
	w.run(80)
	w.wantPhases(map[string]string{"pipes.v1.1.0": "Succeeded"})
	if last := s.asked[len(s.asked)-1]; last != `plumbing.shop.svc:50051 "a"` {
		t.Errorf("after a failure the revision was %q", last)
	}
	if got := state(); got != "READY" {
		t.Errorf("when it is back the source is %q", got)
	}
}
