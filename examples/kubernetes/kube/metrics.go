package kube

import (
	"fmt"
	"strings"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics turns what Runners report to their [fairlead.Trace] into Prometheus
// metrics. Register it with controller-runtime's metrics.Registry, and give
// each engine the Trace that [Metrics.Trace] returns:
//
//   - fairlead_passes_total{engine,result}: passes that ended, result ok or error
//   - fairlead_actions_total{engine,action,result}: actions applied, by type
//   - fairlead_conflicts_total{engine}: passes restarted because another runner
//     had changed the state
//   - fairlead_saves_total{engine}: states written or deleted
//   - fairlead_blocked{engine,reason}: waits reported by the last passes over
//     all objects, by reason
//
// It may be used from several goroutines.
type Metrics struct {
	passes, actions, conflicts, saves *prometheus.CounterVec
	blocked                           *prometheus.GaugeVec

	mu   sync.Mutex
	last map[[2]string]map[string]int // by engine and object: waits by reason
}

// NewMetrics returns metrics without any counts.
func NewMetrics() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "fairlead", Name: name, Help: help}, labels)
	}
	return &Metrics{
		passes:    counter("passes_total", "Passes that ended.", "engine", "result"),
		actions:   counter("actions_total", "Actions applied.", "engine", "action", "result"),
		conflicts: counter("conflicts_total", "Passes restarted because another runner had changed the state.", "engine"),
		saves:     counter("saves_total", "States written or deleted.", "engine"),
		blocked: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "fairlead", Name: "blocked", Help: "Waits reported by the last passes over all objects.",
		}, []string{"engine", "reason"}),
		last: map[[2]string]map[string]int{},
	}
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(to)
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.collectors() {
		c.Collect(to)
	}
}

func (m *Metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.passes, m.actions, m.conflicts, m.saves, m.blocked}
}

// Trace returns the trace for the Runner of an engine.
func (m *Metrics) Trace(engine string) *fairlead.Trace {
	return &fairlead.Trace{
		Saved:    func(string, fairlead.Revision) { m.saves.WithLabelValues(engine).Inc() },
		Conflict: func(string) { m.conflicts.WithLabelValues(engine).Inc() },
		Applied: func(_ string, action fairlead.Action, err error) {
			m.actions.WithLabelValues(engine, actionName(action), result(err)).Inc()
		},
		End: func(name string, p fairlead.Pass) {
			m.passes.WithLabelValues(engine, result(p.Err)).Inc()
			m.waits(engine, name, p.Blocked)
		},
	}
}

// waits replaces what the last pass over the object added to the gauge.
func (m *Metrics) waits(engine, name string, blocked []fairlead.Block) {
	now := map[string]int{}
	for _, b := range blocked {
		now[b.Reason]++
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id := [2]string{engine, name}
	for reason, n := range m.last[id] {
		m.blocked.WithLabelValues(engine, reason).Sub(float64(n))
	}
	for reason, n := range now {
		m.blocked.WithLabelValues(engine, reason).Add(float64(n))
	}
	if len(now) == 0 {
		delete(m.last, id)
	} else {
		m.last[id] = now
	}
}

// Keep drops the waits of objects that this process no longer reconciles: those for which
// mine returns false. Others report them now.
func (m *Metrics) Keep(mine func(name string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, was := range m.last {
		if mine(id[1]) {
			continue
		}
		for reason, n := range was {
			m.blocked.WithLabelValues(id[0], reason).Sub(float64(n))
		}
		delete(m.last, id)
	}
}

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

// actionName returns the type of an action, without its package.
func actionName(action any) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", action), "*")
	return name[strings.LastIndexByte(name, '.')+1:]
}
