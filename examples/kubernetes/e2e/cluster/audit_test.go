package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The lines of an audit log: a watch that begins, an eviction, a deletion
// without options, a forced apply, the end of the watch, and a path that is
// not a resource.
var auditLines = []string{
	`{"auditID":"1","stage":"ResponseStarted","requestURI":"/api/v1/pods?watch=true","verb":"watch","user":{"username":"ada"},"objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2031-01-01T00:00:00.100000Z","stageTimestamp":"2031-01-01T00:00:00.200000Z"}`,
	`{"auditID":"2","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/shop/pods/web/eviction","verb":"create","user":{"username":"ada"},"objectRef":{"resource":"pods","namespace":"shop","name":"web","subresource":"eviction"},"responseStatus":{"code":429},"requestObject":{"kind":"Eviction","deleteOptions":{"preconditions":{"uid":"u-1"}}},"requestReceivedTimestamp":"2031-01-01T00:00:01.000000Z","stageTimestamp":"2031-01-01T00:00:01.500000Z"}`,
	`{"auditID":"3","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/shop/pods/web","verb":"delete","user":{"username":"bob"},"userAgent":"kubectl","objectRef":{"resource":"pods","namespace":"shop","name":"web"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2031-01-01T00:00:02.000000Z","stageTimestamp":"2031-01-01T00:00:02.500000Z"}`,
	`{"auditID":"4","stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=cvo&force=true","verb":"patch","user":{"username":"ada"},"objectRef":{"resource":"deployments","namespace":"shop","name":"web","apiGroup":"apps"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2031-01-01T00:00:03.000000Z","stageTimestamp":"2031-01-01T00:00:03.500000Z"}`,
	`{"auditID":"1","stage":"ResponseComplete","requestURI":"/api/v1/pods?watch=true","verb":"watch","user":{"username":"ada"},"objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2031-01-01T00:00:00.100000Z","stageTimestamp":"2031-01-01T00:00:09.000000Z"}`,
	`{"auditID":"5","stage":"ResponseComplete","requestURI":"/readyz","verb":"get","user":{"username":"ada"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2031-01-01T00:00:10.000000Z","stageTimestamp":"2031-01-01T00:00:10.000000Z"}`,
}

// ids selects from a cluster's requests and returns their IDs.
func ids(t *testing.T, c *Cluster, filter Filter) string {
	t.Helper()
	requests, err := c.Requests(filter)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range requests {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

// TestAuditLogGrows reads a log that is written byte by byte.
func TestAuditLogGrows(t *testing.T) {
	c := &Cluster{dir: t.TempDir()}
	if got := ids(t, c, Filter{}); got != "" {
		t.Errorf("requests without a log: %s", got)
	}
	text := strings.Join(auditLines, "\n") + "\n"
	ends := []int{}
	for i := range text {
		if text[i] == '\n' {
			ends = append(ends, i+1)
		}
	}
	want := []string{"", "1", "1 2", "1 2 3", "1 2 3 4", "1 2 3 4", "1 2 3 4 5"}
	file, err := os.Create(filepath.Join(c.dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i := range text {
		if _, err := file.WriteString(text[i : i+1]); err != nil {
			t.Fatal(err)
		}
		lines, _ := slices.BinarySearch(ends, i+2) // the number of ends up to i+1
		if got := ids(t, c, Filter{}); got != want[lines] {
			t.Fatalf("after %d bytes, which are %d lines: %q, want %q", i+1, lines, got, want[lines])
		}
	}
}

// TestFilter selects from a log by each field.
func TestFilter(t *testing.T) {
	c := auditedCluster(t, strings.Join(auditLines, "\n")+"\n")
	for _, test := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "1 2 3 4 5"},
		{Filter{User: "bob"}, "3"},
		{Filter{Verb: "create"}, "2"},
		{Filter{Resource: "pods"}, "1 3"},
		{Filter{Resource: "pods/eviction"}, "2"},
		{Filter{Namespace: "shop", User: "ada"}, "2 4"},
		{Filter{Name: "web", Resource: "deployments"}, "4"},
		{Filter{Since: time.Date(2031, 1, 1, 0, 0, 2, 0, time.UTC)}, "3 4 5"},
		{Filter{Where: func(r *Request) bool { return r.Code == 429 }}, "2"},
		{Filter{Where: func(r *Request) bool { return r.Resource == "" }}, "5"},
		{Filter{User: "nobody"}, ""},
	} {
		if got := ids(t, c, test.filter); got != test.want {
			t.Errorf("%+v selects %q, want %q", test.filter, got, test.want)
		}
	}
}

// TestRequestDetails checks the details of single requests.
func TestRequestDetails(t *testing.T) {
	c := auditedCluster(t, strings.Join(auditLines, "\n")+"\n")
	all, err := c.Requests(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	watch, eviction, deletion, apply := all[0], all[1], all[2], all[3]
	if took := watch.Answered.Sub(watch.Received); took != 8900*time.Millisecond {
		t.Errorf("the watch took %s, want 8.9s", took)
	}
	if uid := eviction.PreconditionUID(); uid != "u-1" {
		t.Errorf("the eviction had the precondition %q", uid)
	}
	if uid := deletion.PreconditionUID(); uid != "" || deletion.UserAgent != "kubectl" {
		t.Errorf("the deletion had the precondition %q, by %q", uid, deletion.UserAgent)
	}
	if manager, force := apply.FieldManager(); manager != "cvo" || !force || apply.Group != "apps" {
		t.Errorf("the apply was by %q, force %v, group %q", manager, force, apply.Group)
	}
}

// TestIdleWrites distinguishes statuses that an object already had from others.
func TestIdleWrites(t *testing.T) {
	line := func(verb, sent, got string, code int) string {
		return fmt.Sprintf(`{"auditID":"%s-%s-%d","verb":%q,"objectRef":{"resource":"clusterversions","subresource":"status"},"responseStatus":{"code":%[3]d},`+
			`"requestObject":{"metadata":{"resourceVersion":%[1]q}},"responseObject":{"metadata":{"resourceVersion":%[2]q}}}`, sent, got, code, verb)
	}
	c := auditedCluster(t, strings.Join([]string{line("update", "6", "7", 200), line("update", "7", "7", 200), line("update", "7", "7", 409)}, "\n")+"\n")
	if got := ids(t, c, Filter{Where: func(r *Request) bool { return r.Idle }}); got != "7-7-200" {
		t.Errorf("idle writes: %s", got)
	}
}

// TestAuditLogBroken reads a log with an invalid line.
func TestAuditLogBroken(t *testing.T) {
	for _, line := range []string{
		"not JSON",
		`{"auditID":"6","requestObject":{"preconditions":"none"}}`,
		`{"auditID":"6","verb":"update","responseStatus":{"code":200},"requestObject":{"metadata":1},"responseObject":{}}`,
		`{"auditID":"6","objectRef":{"subresource":"eviction"},"requestObject":{"deleteOptions":1}}`,
	} {
		c := auditedCluster(t, auditLines[0]+"\n"+line+"\n")
		if _, err := c.Requests(Filter{}); err == nil || !strings.Contains(err.Error(), "audit.log") {
			t.Errorf("%s: error %v, want one that names the file", line, err)
		}
	}
}

// auditedCluster returns a cluster that consists only of the log.
func auditedCluster(t *testing.T, text string) *Cluster {
	t.Helper()
	c := &Cluster{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(c.dir, "audit.log"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}
