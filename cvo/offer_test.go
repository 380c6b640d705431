package cvo_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
)

// The rows of the operator's TestSyncAvailableUpdatesDesiredUpdate: what is asked
// of the service, and what is offered, by the architecture of the cluster and
// by what the administrator asks for.
func TestQuestion(t *testing.T) {
	g, found := graph.Parse([]byte(`{"nodes":[{"version":"4.5.5","payload":"p:5","metadata":{"release.openshift.io/architecture":"multi"}},{"version":"4.5.6","payload":"p:6"}],
"conditionalEdges":[{"edges":[{"from":"4.5.5","to":"4.5.6"}],"risks":[{"name":"FourFiveSix","matchingRules":[{"type":"Always"}]}]}]}`), nil)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	const conditional, migration = " | 4.5.6", "4.5.5 | "
	for _, c := range []struct {
		name, arch string // of the cluster
		ask        *cvo.Update
		query      string // the architecture that is asked for
		want       string
	}{
		{"operator is multi, image is specified, version is specified, architecture is not specified", "Multi", &cvo.Update{Version: "4.5.6", Image: "p:6"}, "multi", conditional},
		{"operator is multi, image is specified, version is not specified, architecture is not specified", "Multi", &cvo.Update{Image: "p:6"}, "multi", conditional},
		{"operator is multi, image is not specified, version is specified, architecture is specified", "Multi", &cvo.Update{Architecture: "Multi", Version: "4.5.6"}, "multi", conditional},
		{"operator is multi, image is not specified, version is specified, architecture is not specified", "Multi", &cvo.Update{Version: "4.5.6"}, "multi", conditional},
		{"operator is not multi, image is specified, version is specified, architecture is not specified", "", &cvo.Update{Version: "4.5.6", Image: "p:6"}, "amd64", conditional},
		{"operator is not multi, image is specified, version is not specified, architecture is not specified", "", &cvo.Update{Image: "p:6"}, "amd64", conditional},
		{"operator is not multi, version and architecture: migration to multi arch issued", "", &cvo.Update{Architecture: "Multi", Version: "4.5.5"}, "multi", migration},
		{"operator is not multi, version and architecture: migration && update", "", &cvo.Update{Architecture: "Multi", Version: "4.5.6"}, "multi", migration},
		{"operator is not multi, image is not specified, version is specified, architecture is not specified", "", &cvo.Update{Version: "4.5.6"}, "amd64", conditional},
		{"operator is multi, desired update is not specified", "Multi", nil, "multi", conditional},
		{"operator is not multi, desired update is not specified", "", nil, "amd64", conditional},
	} {
		cv := &cvo.ClusterVersion{
			Spec:   cvo.Spec{ClusterID: "01234567-0123-4123-8123-0123456789ab", Channel: "stable-4.5", Upstream: "https://u.example/graph", DesiredUpdate: c.ask},
			Status: cvo.Status{Desired: cvo.Release{Version: "4.5.5", Image: "single:5", Architecture: c.arch}},
		}
		q := cvo.Question(cv, "amd64")
		where, err := q.URL()
		if want := "https://u.example/graph?arch=" + c.query + "&channel=stable-4.5&id=01234567-0123-4123-8123-0123456789ab&version=4.5.5"; err != nil || where != want {
			t.Errorf("%s: %s (%v), not %s", c.name, where, err, want)
		}
		u, err := q.Updates(g)
		if err != nil || offered(u) != c.want {
			t.Errorf("%s: %s (%v), not %s", c.name, offered(u), err, c.want)
		}
	}
}

// A change of architecture is an update to the image of the same version; it is
// refused together with another version, and there is nothing to do as long as
// the service has not told of it, or when it is done.
func TestMigration(t *testing.T) {
	current := cvo.Release{Version: "4.5.5", Image: "single:5"}
	single := []cvo.Release{{Version: "4.5.6", Image: "single:6"}}
	multi := []cvo.Release{{Version: "4.5.5", Image: "p:5", Architecture: "Multi"}}
	for _, c := range []struct {
		name      string
		arch      string
		available []cvo.Release
		ask       cvo.Update
		want, bad string
	}{
		{"before the service has answered", "", single, cvo.Update{Architecture: "Multi", Version: "4.5.5"}, "single:5", ""},
		{"after that", "", multi, cvo.Update{Architecture: "Multi", Version: "4.5.5"}, "p:5", ""},
		{"with another version", "", single, cvo.Update{Architecture: "Multi", Version: "4.5.6"}, "single:5", "an update changes the version or the architecture, not both"},
		{"when it is done", "Multi", []cvo.Release{{Version: "4.5.6", Image: "p:6"}}, cvo.Update{Architecture: "Multi", Version: "4.5.5"}, "single:5", ""},
		{"and then another version", "Multi", []cvo.Release{{Version: "4.5.6", Image: "p:6"}}, cvo.Update{Architecture: "Multi", Version: "4.5.6"}, "p:6", ""},
		{"the current version without an architecture", "", multi, cvo.Update{Version: "4.5.5"}, "single:5", ""},
	} {
		cv := &cvo.ClusterVersion{Spec: cvo.Spec{DesiredUpdate: &c.ask}, Status: cvo.Status{Desired: current, AvailableUpdates: c.available}}
		cv.Status.Desired.Architecture = c.arch
		r, _ := cvo.Desire(cv, cv.Status.Desired)
		bad := ""
		for _, e := range cvo.Validate(cv, nil) {
			bad += strings.TrimPrefix(e.Problem, fmt.Sprintf("Invalid value: %q: ", c.ask.Version))
		}
		if r.Image != c.want || !strings.HasPrefix(bad, c.bad) || (bad == "") != (c.bad == "") {
			t.Errorf("%s: %s, fault %q", c.name, r.Image, bad)
		}
	}
}

// The rows of TestSyncAvailableUpdates_ConditionalUpdateRecommendedConditions:
// the instant of Recommended changes with its status only.
func TestRecommendedSince(t *testing.T) {
	to := graph.Update{Release: graph.Release{Version: "4.5.6", Payload: "p:6"}, Risks: []graph.Risk{{Name: "FourFiveSix", Message: "m", URL: "u", MatchingRules: []graph.Rule{{Type: graph.RuleAlways}}}}}
	before := func(status cvo.ConditionStatus, reason, message string) *cvo.Status {
		return &cvo.Status{ConditionalUpdates: []cvo.ConditionalUpdate{{
			Release:    cvo.Release{Version: "4.5.6", Image: "p:6"},
			Conditions: []cvo.Condition{{Type: "Recommended", Status: status, Reason: reason, Message: message, LastTransitionTime: noon}},
		}}}
	}
	for _, c := range []struct {
		name    string
		old     *cvo.Status
		changes bool
	}{
		{"lastTransitionTime is not updated when nothing changes", before(cvo.False, "FourFiveSix", "m u"), false},
		{"lastTransitionTime is not updated when changed but status is identical", before(cvo.False, "OldReason", "another message"), false},
		{"lastTransitionTime is updated when status changes", before(cvo.Unknown, "FourFiveSix", "m u"), true},
		{"lastTransitionTime is updated on first fetch with empty CV status", &cvo.Status{}, true},
		{"lastTransitionTime is updated on first fetch when condition status in CV status differs from fetched status", before(cvo.True, "", ""), true},
		{"lastTransitionTime is not updated on first fetch when condition status in CV status matches fetched status", before(cvo.False, "", ""), false},
	} {
		_, list := cvo.Offers(&graph.Updates{Conditional: []graph.Update{to}}, graph.Evaluations{}, nil, c.old, noon.Add(time.Hour))
		got := list[0].Conditions[0]
		if got.LastTransitionTime.Equal(noon) == c.changes {
			t.Errorf("%s: %v", c.name, got.LastTransitionTime)
		}
		if got.Status != cvo.False || got.Reason != "FourFiveSix" || got.Message != "m u" {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// What is told of asking the service.
func TestUpdatesCondition(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "True  "},
		{&graph.FetchError{Failure: graph.VersionNotFound, Message: "m"}, "False VersionNotFound Unable to retrieve available updates: m"},
		{fmt.Errorf("outer: %w", &graph.FetchError{Failure: graph.NoChannel, Message: "m"}), "False NoChannel Unable to retrieve available updates: m"},
		{errors.New("m"), "False Unknown Unable to retrieve available updates: m"},
	} {
		got := cvo.UpdatesCondition(c.err, noon)
		if text := fmt.Sprintf("%s %s %s", got.Status, got.Reason, got.Message); text != c.want || got.Type != "RetrievedUpdates" {
			t.Errorf("%v: %s", c.err, text)
		}
	}
}

// updatedStage is a cluster at 4.18.0, with the releases 4.18.1, 4.19.0 and 4.20.0.
func updatedStage(t *testing.T) *stage {
	s := newStage(t)
	for _, v := range []string{"4.18.0", "4.18.1", "4.19.0", "4.20.0"} {
		s.backend.SetRelease("r@"+v, release(t, v, []part{{runlevel: 10, component: "a", objects: 1, operator: true}}, nil), true, 0)
	}
	s.own = cvo.Release{Version: "4.18.0", Image: "r@4.18.0"}
	s.backend.SetCluster("c", s.spec, s.own)
	s.run(time.Hour)
	return s
}

func (s *stage) want(u *cvo.Update, d time.Duration) {
	s.spec.DesiredUpdate = u
	s.backend.SetCluster("c", s.spec, s.own)
	s.run(d)
}

// What the administrator accepts goes into the history of the update.
func TestAcceptedRisks(t *testing.T) {
	s := updatedStage(t)
	to := cvo.Release{Version: "4.18.1", Image: "r@4.18.1"}
	s.backend.SetStatus("c", func(st *cvo.Status) {
		applies := func(name string, status cvo.ConditionStatus) cvo.ConditionalUpdateRisk {
			return cvo.ConditionalUpdateRisk{Name: name, Conditions: []cvo.Condition{{Type: "Applies", Status: status}}}
		}
		st.ConditionalUpdateRisks = []cvo.ConditionalUpdateRisk{applies("A", cvo.True), applies("B", cvo.False), applies("C", cvo.True), applies("D", cvo.True)}
		st.ConditionalUpdates = []cvo.ConditionalUpdate{{
			Release: to, Risks: []graph.Risk{{Name: "A"}, {Name: "B"}, {Name: "C"}},
			Conditions: []cvo.Condition{{Type: "Recommended", Status: cvo.True, Reason: graph.ReasonAccepted}},
		}}
	})
	s.want(&cvo.Update{Version: "4.18.1", AcceptRisks: []cvo.AcceptRisk{{Name: "A"}, {Name: "B"}, {Name: "C"}, {Name: "D"}}}, time.Hour)
	h := s.backend.Version("c").Status.History[0]
	if h.Version != "4.18.1" || h.AcceptedRisks != "4.18.1 has risks that the administrator accepts: A, C" {
		t.Errorf("%+v", h)
	}
}

// While one minor version is on its way no other one is begun. As soon as the
// first is there the other is, without anything being asked for again.
func TestOneMinorAtATime(t *testing.T) {
	s := updatedStage(t)
	s.backend.Operators["a"] = 30 * time.Minute
	s.want(&cvo.Update{Version: "4.19.0", Image: "r@4.19.0"}, 10*time.Minute)
	s.want(&cvo.Update{Version: "4.20.0", Image: "r@4.20.0"}, 10*time.Minute)
	st := s.backend.Version("c").Status
	i := slices.IndexFunc(st.Conditions, func(c cvo.Condition) bool { return c.Type == "ReleaseAccepted" })
	if st.Desired.Version != "4.19.0" || !strings.Contains(st.Conditions[i].Message, "UpdateInProgress") {
		t.Errorf("on the way to %s: %+v", st.Desired.Version, st.Conditions[i])
	}
	for s.backend.Version("c").Status.History[0].State != cvo.Completed {
		d, err := s.runner.Reconcile(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		if len(d.State.History) > 1 && d.State.History[0].State == cvo.Completed && (d.Wake.IsZero() || d.Wake.After(s.clock.Now().Add(time.Second))) {
			t.Errorf("4.19.0 is there, and at %v the next step comes at %v", s.clock.Now(), d.Wake)
		}
		if len(d.Actions) == 0 {
			s.clock.Set(s.clock.Now().Add(time.Minute))
		}
	}
	s.run(2 * time.Hour)
	if h := s.backend.Version("c").Status.History; h[0].Version != "4.20.0" || h[0].State != cvo.Completed || h[1].State != cvo.Completed {
		t.Errorf("%+v", h)
	}
}

// Who accepts risks and asks for nothing gets nothing: the cluster stays.
func TestAcceptRisksAlone(t *testing.T) {
	s := updatedStage(t)
	s.want(&cvo.Update{AcceptRisks: []cvo.AcceptRisk{{Name: "A"}}}, time.Hour)
	st := s.backend.Version("c").Status
	if st.Desired.Version != "4.18.0" || slices.ContainsFunc(st.Conditions, func(c cvo.Condition) bool { return c.Type == "Invalid" }) {
		t.Errorf("%+v", st)
	}
	s.own = cvo.Release{} // an engine of no release trusts none for its own
	s.backend.Operators["a"] = 30 * time.Minute
	s.want(&cvo.Update{Version: "4.19.0", Image: "r@4.19.0"}, 10*time.Minute)
	s.want(&cvo.Update{AcceptRisks: []cvo.AcceptRisk{{Name: "A"}}}, time.Hour)
	// The way back changes the minor version: it is refused, and the update goes on.
	if h := s.backend.Version("c").Status.History[0]; h.Version != "4.19.0" || h.State != cvo.Completed {
		t.Errorf("the request was taken back: %+v", h)
	}
}

// What the definition of ClusterVersions does not have without its feature gate is not
// written where the gates are known.
func TestRisksWithoutTheirGate(t *testing.T) {
	for _, c := range []struct {
		gates []string
		want  bool
	}{{nil, true}, {[]string{"Other", "ClusterUpdateAcceptRisks"}, true}, {[]string{"Other"}, false}, {[]string{}, false}} {
		s := updatedStage(t)
		s.policy.ClusterRisks = true
		s.restart()
		s.backend.Show("c", func(w *cvo.World) { w.Alerts = []cvo.Alert{alert("DiskSlow", "critical", "", noon)} })
		s.backend.gates = c.gates
		s.backend.updates = &graph.Updates{Available: []graph.Update{{Release: graph.Release{Version: "4.18.1", Payload: "r@4.18.1"}}}}
		s.run(time.Hour)
		list := s.backend.Version("c").Status
		if len(list.ConditionalUpdates) != 1 || len(list.ConditionalUpdates[0].Risks) != 1 {
			t.Fatalf("gates %v: %+v", c.gates, list.ConditionalUpdates)
		}
		if got := len(list.ConditionalUpdateRisks) == 1 && len(list.ConditionalUpdates[0].RiskNames) == 1; got != c.want || !got && len(list.ConditionalUpdateRisks)+len(list.ConditionalUpdates[0].RiskNames) > 0 {
			t.Errorf("gates %v: %v, %v", c.gates, list.ConditionalUpdateRisks, list.ConditionalUpdates[0].RiskNames)
		}
	}
}

// A whole story: an update is offered, an alert makes it conditional so that it
// cannot be asked for by its version, the administrator accepts the alert's risk,
// and the cluster goes to it; the history has what was accepted. The gate of an
// administrator keeps the minor version until it is acknowledged.
func TestRisksThroughARunner(t *testing.T) {
	s := updatedStage(t)
	s.policy.ClusterRisks = true
	s.restart()
	offer := func(versions ...string) *graph.Updates {
		u := &graph.Updates{Current: graph.Release{Version: "4.18.0"}}
		for _, v := range versions {
			u.Available = append(u.Available, graph.Update{Release: graph.Release{Version: v, Payload: "r@" + v}})
		}
		return u
	}
	alerts, acks := []cvo.Alert{alert("DiskSlow", "critical", "", noon)}, map[string]string{}
	s.backend.Show("c", func(w *cvo.World) {
		w.Alerts = alerts
		w.AdminGates = &cvo.AdminGates{Gates: map[string]string{"ack-4.18-apis": "APIs go away."}, Acks: acks}
	})
	s.backend.updates, s.backend.answered = offer("4.18.1", "4.19.0"), cvo.UpdatesCondition(nil, noon)
	at := func() string {
		h := s.backend.Version("c").Status.History[0]
		return h.Version + " " + string(h.State) + " " + h.AcceptedRisks
	}
	invalid := func() bool {
		return slices.ContainsFunc(s.backend.Version("c").Status.Conditions, func(c cvo.Condition) bool { return c.Type == "Invalid" })
	}
	s.run(time.Hour)
	s.want(&cvo.Update{Version: "4.18.1"}, time.Hour)
	if at() != "4.18.0 Completed " || !invalid() {
		t.Errorf("with an alert: %s, invalid %v", at(), invalid())
	}
	s.want(&cvo.Update{Version: "4.18.1", AcceptRisks: []cvo.AcceptRisk{{Name: "DiskSlow"}}}, time.Hour)
	if want := "4.18.1 Completed 4.18.1 has risks that the administrator accepts: DiskSlow"; at() != want || invalid() {
		t.Errorf("%s, not %s", at(), want)
	}
	alerts = nil
	s.backend.updates = offer("4.19.0")
	s.backend.updates.Current.Version = "4.18.1"
	s.want(&cvo.Update{Version: "4.19.0", Image: "r@4.19.0"}, time.Hour)
	if !strings.HasPrefix(at(), "4.18.1 Completed") {
		t.Errorf("without an acknowledgement: %s", at())
	}
	s.want(nil, time.Hour)
	acks["ack-4.18-apis"] = "true"
	s.run(time.Hour)
	s.want(&cvo.Update{Version: "4.19.0"}, time.Hour)
	if at() != "4.19.0 Completed " {
		t.Errorf("acknowledged: %s", at())
	}
}

// The channel that is advised is not the one that lacks the release; builds that were not released are
// in none.
func TestChannelAdvised(t *testing.T) {
	for _, c := range []struct{ version, channel, want, not string }{
		{"4.18.20", "", "oc adm upgrade channel stable-4.18", ""},
		{"4.18.20", "stable-4.19", "oc adm upgrade channel stable-4.18", ""},
		{"4.18.20", "stable-4.18", "oc adm upgrade channel candidate-4.18", ""},
		{"4.18.0-0.nightly-2026-01-01-000000", "stable-4.18", "was not released", "oc adm upgrade channel"},
		{"4.18.0-0.ci.test-2026-01-01-000000-x", "stable-4.18", "was not released", "oc adm upgrade channel"},
		{"4.18.0-rc.1", "stable-4.18", "oc adm upgrade channel candidate-4.18", ""},
	} {
		cv := &cvo.ClusterVersion{}
		cv.Spec.Channel, cv.Status.Desired.Version = c.channel, c.version
		cv.Status.Conditions = []cvo.Condition{{Type: "RetrievedUpdates", Status: cvo.False, Reason: "VersionNotFound"}}
		if got := cvo.ChannelHelp(cv, ""); !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s in channel %q: %s", c.version, c.channel, got)
		}
	}
}
