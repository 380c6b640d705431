package promql_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/promql"
)

// TestAlerts reads Prometheus' answers about alerts, and reports errors.
func TestAlerts(t *testing.T) {
	answer, status := `{"status":"success","data":{"alerts":[
		{"labels":{"alertname":"KubeNodeNotReady","severity":"warning"},"annotations":{"summary":"n1 is not ready"},"state":"firing","activeAt":"2026-03-01T12:00:00Z","value":"1e+00"},
		{"labels":{"alertname":"Soon"},"annotations":{},"state":"pending","activeAt":"2026-03-01T12:01:00Z","value":"1e+00"}]}}`, http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/alerts" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	e, err := promql.New(server.URL, &promql.Options{MaxAnswer: 4096})
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Alerts(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	if a := all[0]; a.Labels["alertname"] != "KubeNodeNotReady" || a.Annotations["summary"] != "n1 is not ready" || a.State != "firing" ||
		!a.ActiveAt.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) || all[1].State != "pending" {
		t.Errorf("%+v", all)
	}
	answer = `{"status":"success","data":{"alerts":[]}}`
	if all, err := e.Alerts(t.Context()); err != nil || all == nil || len(all) > 0 {
		t.Errorf("no alerts: %v, %v", all, err)
	}
	answer = `{"status":"success","data":{"alerts":[` + strings.Repeat(" ", 5000) + `]}}`
	if _, err := e.Alerts(t.Context()); err == nil {
		t.Error("an answer that is too large was taken")
	}
	answer, status = "no", http.StatusForbidden
	if _, err := e.Alerts(t.Context()); err == nil || !strings.Contains(err.Error(), server.URL) {
		t.Errorf("forbidden: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Alerts(ctx); err == nil {
		t.Error("without time")
	}
}
