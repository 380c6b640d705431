package budget

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// Fault is what goes wrong between a controller and its API server.
type Fault string

// The faults. Those of requests happen to the first and the third write, and all but the last
// three also to the first and the fourth read, each once.
const (
	ServerError  Fault = "500"                // the server fails before it does anything
	TooMany      Fault = "429"                // it is busy, and says when to come back
	Unavailable  Fault = "503"                // it is about to end
	LostAnswer   Fault = "lost answer"        // it does what it is asked for, and the connection breaks before its answer
	Conflict     Fault = "conflict"           // a write is refused because the object has changed
	Webhook      Fault = "webhook"            // an admission webhook refuses a write
	Quota        Fault = "quota"              // a quota refuses a write
	Expired      Fault = "410"                // watches end since their revision is too old
	WatchRestart Fault = "watches that end"   // watches end, again and again
	OldCache     Fault = "a cache that lags"  // events come two seconds late
	none         Fault = "without any faults" // what the others are compared with
)

var faults = []Fault{ServerError, TooMany, Unavailable, LostAnswer, Conflict, Webhook, Quota, Expired, WatchRestart, OldCache}

// faulty decides which requests go wrong.
type faulty struct {
	fault Fault

	mu            sync.Mutex
	writes, reads int
	watches       map[string]int // by kind
	happened      int
}

// strikes reports whether a request is one of those that go wrong.
func (f *faulty) strikes(r *http.Request) bool {
	if f == nil || f.fault == none || strings.Contains(r.URL.Path, "/events") {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	hit := false
	switch f.fault {
	case Expired, WatchRestart, OldCache:
		return false
	case LostAnswer, Conflict, Webhook, Quota:
		if r.Method == http.MethodGet {
			return false
		}
	}
	if r.Method == http.MethodGet {
		f.reads++
		hit = f.reads == 1 || f.reads == 4
	} else {
		f.writes++
		hit = f.writes == 1 || f.writes == 3
	}
	if hit {
		f.happened++
	}
	return hit
}

// answer answers a request that goes wrong. done does what is requested.
func (f *faulty) answer(w http.ResponseWriter, done func(http.ResponseWriter)) {
	switch f.fault {
	case ServerError:
		refuse(w, http.StatusInternalServerError, "InternalError")
	case TooMany:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
	case Unavailable:
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable")
	case LostAnswer:
		done(&deaf{header: http.Header{}})
		panic(http.ErrAbortHandler)
	case Conflict:
		refuse(w, http.StatusConflict, "Conflict")
	case Webhook:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"admission webhook \"policy.example.com\" denied the request: not now"}`)
	case Quota:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"exceeded quota: all, requested: pods=1, used: pods=4, limited: pods=4"}`)
	}
}

// deaf is a connection that nobody listens to.
type deaf struct{ header http.Header }

func (d *deaf) Header() http.Header         { return d.header }
func (d *deaf) Write(p []byte) (int, error) { return len(p), nil }
func (d *deaf) WriteHeader(int)             {}

// ends returns how long a watch lasts, and whether it ends because its revision is too old; zero means
// that it lasts.
func (f *faulty) ends(kind string) (after time.Duration, expired bool) {
	if f == nil {
		return 0, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watches == nil {
		f.watches = map[string]int{}
	}
	f.watches[kind]++
	switch n := f.watches[kind]; {
	case f.fault == Expired && n == 1:
		f.happened++
		return 500 * time.Millisecond, true
	case f.fault == WatchRestart && n <= 4:
		f.happened++
		return 400 * time.Millisecond, false
	}
	return 0, false
}

// lag returns by how much events are late.
func (f *faulty) lag() time.Duration {
	if f == nil || f.fault != OldCache {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.happened++
	return 2 * time.Second
}

// still is how long a controller that has settled makes no request: longer than the back-off of
// engines after two faults, ten seconds.
const still = 13 * time.Second

// Faults runs what scenario sets up once without and once with each fault. It fails the test if the
// objects in the end differ, if something was removed more often, or if it takes a minute longer, the
// longest interval at which a controller looks again. scenario fills the server, and returns what adds
// the controller to a manager.
func Faults(t *testing.T, scenario func(t *testing.T, s *Server) func(ctrl.Manager) error) {
	type end struct {
		lines []string
		took  time.Duration
	}
	ends := map[Fault]*end{}
	var all sync.WaitGroup
	for _, f := range append([]Fault{none}, faults...) { // all at once: they mostly wait
		e := &end{}
		ends[f] = e
		all.Go(func() { e.lines, e.took = settled(t, f, scenario) })
	}
	all.Wait()
	want := ends[none]
	if len(want.lines) == 0 {
		t.Fatal("there is nothing in the end")
	}
	for _, f := range faults {
		got := ends[f]
		for _, line := range want.lines {
			if !slices.Contains(got.lines, line) {
				t.Errorf("%s: without faults, and not with it: %s", f, line)
			}
		}
		for _, line := range got.lines {
			if !slices.Contains(want.lines, line) {
				t.Errorf("%s: only with it: %s", f, line)
			}
		}
		if got.took > want.took+time.Minute {
			t.Errorf("%s: it takes %v, and %v without faults", f, got.took.Round(time.Second), want.took.Round(time.Second))
		}
	}
}

// settled runs a scenario with a fault until it is still, and returns the objects that there are then,
// and what was removed how often.
func settled(t *testing.T, f Fault, scenario func(*testing.T, *Server) func(ctrl.Manager) error) (lines []string, took time.Duration) {
	t.Helper()
	s := New(t)
	s.faulty = &faulty{fault: f}
	setup := scenario(t, s)
	before := s.outcome()
	mgr := s.manager(t)
	if err := setup(mgr); err != nil {
		t.Errorf("%s: %v", f, err)
		return nil, 0
	}
	go func() { _ = mgr.Start(t.Context()) }()
	begin := time.Now()
	last, began := begin, false
	for now := begin; now.Sub(last) < still && now.Sub(begin) < 90*time.Second || !began && now.Sub(begin) < 20*time.Second; now = time.Now() {
		time.Sleep(50 * time.Millisecond)
		if len(s.count()) > 0 {
			last, began = now, true
		}
	}
	s.faulty.mu.Lock()
	defer s.faulty.mu.Unlock()
	if f != none && s.faulty.happened == 0 {
		t.Errorf("%s: it did not happen", f)
	}
	lines = s.outcome()
	if f == none && reflect.DeepEqual(before, lines) {
		t.Error("the controller changes nothing")
	}
	return lines, last.Sub(begin)
}

// outcome returns the objects, without times and revisions, and the removals.
func (s *Server) outcome() (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, k := range s.kinds {
		for _, o := range k.objects {
			text, _ := json.Marshal(timeless(o.DeepCopy().Object))
			lines = append(lines, at+" "+string(text))
		}
	}
	count := map[string]int{}
	for _, r := range s.removed {
		count[r]++
	}
	for r, n := range count {
		lines = append(lines, fmt.Sprintf("%s, %d times", r, n))
	}
	slices.Sort(lines)
	return lines
}

// timeless removes what differs from run to run.
func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if lower := strings.ToLower(key); strings.HasSuffix(lower, "time") || strings.HasSuffix(lower, "timestamp") || lower == "resourceversion" || lower == "timeadded" || lower == "message" ||
				slices.Contains([]string{"began", "ended", "plannedbegin", "plannedend", "at", "since", "wake", "uid"}, lower) {
				delete(v, key)
				continue
			}
			v[key] = timeless(value)
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "some time"
		}
	}
	return v
}
