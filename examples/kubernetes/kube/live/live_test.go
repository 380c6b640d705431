package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/fairlead/update"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/live"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// server answers as an API server does: in pages, which may expire.
type server struct {
	objects map[string][]map[string]any // by kind
	fails   map[string]error            // the error for a kind
	most    int                         // the number of objects per page
	forgets bool                        // the second page of a list has expired
	pages   int                         // the number of requested pages
}

func (s *server) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := into.GetObjectKind().GroupVersionKind().Kind
	if err := s.fails[kind+" "+key.Name]; err != nil {
		return err
	}
	for _, o := range s.objects[kind] {
		u := &unstructured.Unstructured{Object: o}
		if u.GetName() == key.Name && u.GetNamespace() == key.Namespace {
			return decode(o, into)
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: strings.ToLower(kind) + "s"}, key.Name)
}

func (s *server) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	kind := strings.TrimSuffix(into.GetObjectKind().GroupVersionKind().Kind, "List")
	o := (&client.ListOptions{}).ApplyOptions(opts)
	s.pages++
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.fails[kind]; err != nil {
		return err
	}
	from, _ := strconv.Atoi(o.Continue)
	if from > 0 && s.forgets {
		return apierrors.NewResourceExpired("the list is too old")
	}
	list, next := s.objects[kind][from:], ""
	if most := min(int(o.Limit), s.most); most > 0 && len(list) > most {
		list, next = list[:most], strconv.Itoa(from+most)
	}
	if list == nil {
		list = []map[string]any{}
	}
	return decode(map[string]any{"metadata": map[string]any{"continue": next}, "items": list, "kind": kind + "List"}, into)
}

func decode(from any, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// serverOf returns a server with the objects in files.
func serverOf(t *testing.T, files ...string) *server {
	t.Helper()
	s := &server{objects: map[string][]map[string]any{}, fails: map[string]error{}, most: 3}
	for _, file := range files {
		text, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		var bad error
		r := snapshot.Reader{Each: func(o *snapshot.Ref, text []byte) {
			object := map[string]any{}
			s.objects[o.Kind] = append(s.objects[o.Kind], object)
			bad = errors.Join(bad, json.Unmarshal(text, &object))
		}}
		err = errors.Join(r.Stream(text, file), bad)
		text.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// status returns the report of the program on a dump.
func status(t *testing.T, prefix string) *cvo.Report {
	t.Helper()
	var out, problems bytes.Buffer
	if code := update.Command().Program("update")(t.Context(), []string{"status", prefix, "-o", "json"}, nil, &out, &problems); code > 1 {
		t.Fatal(problems.String())
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "diagnosis") // the program's own
	delete(all, "clock")
	text, err := json.Marshal(all)
	r := new(cvo.Report)
	if err = errors.Join(err, json.Unmarshal(text, r)); err != nil {
		t.Fatal(err)
	}
	return r
}

// For every recorded cluster, the report on the live cluster equals that on the dump
// of its objects, in pages or not.
func TestInspectAsDump(t *testing.T) {
	dir := samples.Data(t, "updates", "status")
	files, _ := filepath.Glob(filepath.Join(dir, "*-cv.yaml"))
	if len(files) == 0 {
		t.Skip("no recorded clusters: " + dir)
	}
	if !long.Enabled() {
		files = files[:min(2, len(files))]
	}
	for _, file := range files {
		prefix := strings.TrimSuffix(file, "-cv.yaml")
		var alerts live.Alerts
		if f, err := os.Open(prefix + "-alerts.json"); err == nil {
			var from snapshot.Reader
			err := from.StreamOf("Alert", f, f.Name())
			f.Close()
			known, failed := from.Snapshot()
			if err = errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			alerts = func(context.Context) ([]cvo.Alert, error) { return known.Alerts.Items, nil }
		}
		parts, _ := filepath.Glob(prefix + "-*.yaml")
		s, want := serverOf(t, parts...), status(t, prefix)
		for _, s.forgets = range []bool{false, true} {
			r, err := live.Inspect(t.Context(), s, alerts, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if got := through(t, r); !cmp.Equal(want, got) {
				t.Errorf("%s, lists forgotten %v: as a dump, and live:\n%s", filepath.Base(prefix), s.forgets, cmp.Diff(want, got))
			}
		}
	}
}

// through returns a report after encoding and decoding it.
func through(t *testing.T, r *cvo.Report) *cvo.Report {
	t.Helper()
	back := new(cvo.Report)
	if err := decode(r, back); err != nil {
		t.Fatal(err)
	}
	return back
}

const small = "../../../internal/situation/testdata/beside/cluster.yaml"

// For each kind, data that the server refuses is unknown, with the reason and how to
// get it; a list that was partly read does not count as complete.
func TestRefused(t *testing.T) {
	all := serverOf(t, small)
	server := func() *server { return &server{objects: maps.Clone(all.objects), fails: map[string]error{}, most: 1} }
	whole, err := live.Read(t.Context(), all, nil, time.Time{})
	if err != nil || len(whole.Gaps) > 0 {
		t.Fatalf("%v: %v", whole, err)
	}
	for _, k := range live.Kinds() {
		resource := schema.GroupResource{Group: k.Group, Resource: k.Resource}
		for what, c := range map[string]struct {
			err error
			how string
		}{
			"forbidden": {apierrors.NewForbidden(resource, "", errors.New("user x cannot list")), "grant the permission"},
			"no kind":   {&meta.NoKindMatchError{GroupKind: k.GroupKind()}, "does not have this kind"},
			"internal":  {apierrors.NewInternalError(errors.New("etcd is slow")), "try again"},
		} {
			s := server()
			s.fails[k.Kind] = c.err
			r, err := live.Read(t.Context(), s, nil, time.Time{})
			if err != nil {
				t.Fatalf("%s %s: %v", k.Kind, what, err)
			}
			optional := (k.Group == "operators.coreos.com" || k.Kind == "Machine" || k.Kind == "MachineHealthCheck") && what == "no kind"
			if optional != (len(r.Gaps) == 0) || len(r.Gaps) > 1 {
				t.Errorf("%s %s: %v", k.Kind, what, r.Gaps)
			}
			for _, g := range r.Gaps {
				if !strings.HasPrefix(g.What, k.Resource+": ") || !strings.Contains(g.How, c.how) {
					t.Errorf("%s %s: %s; %s", k.Kind, what, g.What, g.How)
				}
			}
		}
		s := server()
		s.objects[k.Kind] = append(slices.Clip(s.objects[k.Kind]), map[string]any{"metadata": map[string]any{"name": "bad"}, "spec": "text", "status": 3})
		if r, err := live.Read(t.Context(), s, nil, time.Time{}); err != nil || k.Kind != "MachineConfig" && len(r.Gaps) != 1 {
			t.Errorf("%s that cannot be read: %v, %v", k.Kind, r, err)
		} else if _, partly := r.Partly[k.Kind]; known(r)[k.Kind] && !partly && k.Kind != "ClusterVersion" && k.Kind != "Machine" { // of these no plan rests on all
			t.Errorf("%s that cannot be read: a part counts as all", k.Kind)
		}
	}
}

// known returns which lists are known.
func known(c *live.Cluster) map[string]bool {
	return map[string]bool{
		"ClusterVersion": c.Cluster != nil, "ClusterOperator": c.ClusterOperators != nil, "MachineConfigPool": c.Pools != nil, "Node": c.Nodes != nil,
		"Pod": c.Pods != nil, "Machine": c.Machines != nil, "PodDisruptionBudget": c.Budgets != nil, "APIRequestCount": c.Removed != nil,
	}
}

// Gates are known only from the ConfigMap that has them; acknowledgements that may not be
// read count as not given.
func TestGates(t *testing.T) {
	gates := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "openshift-config-managed", "name": "admin-gates"}, "data": map[string]any{"ack-4.18-x": "x is removed"}}
	acks := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "openshift-config", "name": "admin-acks"}, "data": map[string]any{"ack-4.18-x": "true"}}
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil)
	for name, c := range map[string]struct {
		objects []map[string]any
		fails   string
		want    string
	}{
		"none":    {nil, "", "map[] map[]"},
		"both":    {[]map[string]any{gates, acks}, "", "map[ack-4.18-x:x is removed] map[ack-4.18-x:true]"},
		"no acks": {[]map[string]any{gates, acks}, "ConfigMap admin-acks", "map[ack-4.18-x:x is removed] map[]"},
		"no gate": {[]map[string]any{gates, acks}, "ConfigMap admin-gates", "<nil>"},
	} {
		s := serverOf(t, small)
		s.objects["ConfigMap"] = c.objects
		s.fails[c.fails] = denied
		r, err := live.Read(t.Context(), s, nil, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		got := "<nil>"
		if r.Gates != nil {
			got = fmt.Sprint(r.Gates.Gates, r.Gates.Acks)
		}
		if got != c.want || (c.fails != "") != (len(r.Gaps) == 1) {
			t.Errorf("%s: %s, want %s; %v", name, got, c.want, r.Gaps)
		}
	}
}

// A server that does not answer, and a context that ends, are errors after one request.
// Unavailable alerts are a gap.
func TestNoAnswer(t *testing.T) {
	s := serverOf(t, small)
	s.fails["ClusterVersion"] = &net.OpError{Op: "dial", Err: io.EOF}
	if r, err := live.Inspect(t.Context(), s, nil, time.Time{}); err == nil || s.pages != 1 {
		t.Errorf("%v, %v after %d requests", r, err, s.pages)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := live.Read(ctx, serverOf(t, small), nil, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
	r, err := live.Inspect(t.Context(), serverOf(t, small), func(context.Context) ([]cvo.Alert, error) { return nil, errors.New("thanos is away") }, time.Time{})
	if err != nil || len(r.Gaps) < 2 || r.Gaps[0].What != "thanos is away" || r.Well() {
		t.Errorf("%+v, %v", r, err)
	}
}

// Machine configurations are large: only their metadata is requested.
func TestHeads(t *testing.T) {
	s := &watched{server: serverOf(t, small)}
	if _, err := live.Read(t.Context(), s, nil, time.Time{}); err != nil || s.heads != "MachineConfigList" {
		t.Errorf("%q, %v", s.heads, err)
	}
}

type watched struct {
	*server
	heads string
}

func (w *watched) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	if list, ok := into.(*metav1.PartialObjectMetadataList); ok {
		w.heads += list.Kind
	}
	return w.server.List(ctx, into, opts...)
}
