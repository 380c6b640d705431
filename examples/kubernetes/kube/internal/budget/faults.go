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

// The faults. Those of requests happen to the first, fourth and sixth write, and all but the last
// seven also to the first and the fourth read, each once.
const (
	ServerError  Fault = "500"                // the server fails before it does anything
	TooMany      Fault = "429"                // it is busy, and says when to come back
	Unavailable  Fault = "503"                // it is about to end
	LostAnswer   Fault = "lost answer"        // it does what it is asked for, and the connection breaks before its answer
	Conflict     Fault = "conflict"           // a write is refused because the object has changed
	Taken        Fault = "fields of others"   // an apply is refused because another manager owns fields
	Webhook      Fault = "webhook"            // an admission webhook refuses a write
	Quota        Fault = "quota"              // a quota refuses a write
	Expired      Fault = "410"                // watches end since their revision is too old
	WatchRestart Fault = "watches that end"   // watches end, again and again
	LateCache    Fault = "a cache that lags"  // events come two seconds late
	OldCache     Fault = "an old cache"       // for ten seconds, and many passes, no event comes
	none         Fault = "without any faults" // what the others are compared with
)

var faults = []Fault{ServerError, TooMany, Unavailable, LostAnswer, Conflict, Taken, Webhook, Quota, Expired, WatchRestart, LateCache, OldCache}

// faulty decides which requests go wrong.
type faulty struct {
	fault Fault

	mu            sync.Mutex
	began         time.Time
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
	case Expired, WatchRestart, LateCache, OldCache:
		return false
	case Taken:
		if !applies(r) {
			return false
		}
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
		hit = f.writes == 1 || f.writes == 4 || f.writes == 6
	}
	if hit {
		f.happened++
	}
	return hit
}

// applies reports whether a request is a server-side apply.
func applies(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Content-Type"), "apply-patch")
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
	case Taken:
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"Apply failed with 1 conflict: conflict with \"somebody\": .spec","details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"somebody\"","field":".spec"}]}}`)
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

// lag returns how much longer a watch must not tell what happened at a time.
func (f *faulty) lag(at time.Time) time.Duration {
	if f == nil || f.fault != LateCache && f.fault != OldCache {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.happened++
	if f.fault == LateCache {
		return time.Until(at.Add(2 * time.Second))
	}
	return time.Until(f.began.Add(10 * time.Second))
}

// still is how long a controller that has settled makes no request, unless [Server.Still] is longer:
// longer than the back-off of engines after two faults, ten seconds.
const still = 13 * time.Second

// Faults runs what scenario sets up once without and once with each fault. It fails the test if the
// objects in the end differ, if something was removed more often, or if it takes a minute longer, the
// longest interval at which a controller looks again. scenario fills the server, and returns what adds
// the controller to a manager.
func Faults(t *testing.T, unit string, scenario func(t *testing.T, s *Server) func(ctrl.Manager) error) {
	type end struct {
		objects map[string]string
		took    time.Duration
		made    []string
	}
	ends := map[Fault]*end{}
	var all sync.WaitGroup
	for _, f := range append([]Fault{none}, faults...) { // all at once: they mostly wait
		e := &end{}
		ends[f] = e
		all.Go(func() { e.objects, e.took, e.made = settled(t, f, scenario) })
	}
	all.Wait()
	want := ends[none]
	if len(want.objects) == 0 {
		t.Fatal("there is nothing in the end")
	}
	tell(t, unit, want.made)
	for _, f := range faults {
		got := ends[f]
		for what, is := range want.objects {
			if with := got.objects[what]; with != is {
				t.Errorf("%s: after %v, %s is otherwise without it: %s", f, got.took.Round(time.Second), what, difference(with, is))
			}
		}
		for what := range got.objects {
			if _, is := want.objects[what]; !is {
				t.Errorf("%s: %s is only with it", f, what)
			}
		}
		if got.took > want.took+time.Minute {
			t.Errorf("%s: it takes %v, and %v without faults", f, got.took.Round(time.Second), want.took.Round(time.Second))
		}
	}
}

// settled runs a scenario with a fault until it is still, and returns the objects that there are then,
// and what was removed how often.
func settled(t *testing.T, f Fault, scenario func(*testing.T, *Server) func(ctrl.Manager) error) (objects map[string]string, took time.Duration, made []string) {
	t.Helper()
	s := New(t)
	s.faulty = &faulty{fault: f, began: time.Now()}
	setup := scenario(t, s)
	before := s.outcome()
	mgr := s.manager(t)
	if err := setup(mgr); err != nil {
		t.Errorf("%s: %v", f, err)
		return nil, 0, nil
	}
	go func() { _ = mgr.Start(t.Context()) }()
	begin := time.Now()
	last, began := begin, false
	for now := begin; now.Sub(last) < max(still, s.Still) && now.Sub(begin) < 90*time.Second || !began && now.Sub(begin) < 20*time.Second; now = time.Now() {
		time.Sleep(50 * time.Millisecond)
		if len(s.count()) > 0 {
			last, began = now, true
		}
	}
	s.faulty.mu.Lock()
	defer s.faulty.mu.Unlock()
	if f != none && s.faulty.happened == 0 && (f != Taken || s.applied) {
		t.Errorf("%s: it did not happen", f)
	}
	objects = s.outcome()
	if f == none && reflect.DeepEqual(before, objects) {
		t.Error("the controller changes nothing")
	}
	return objects, last.Sub(begin), s.made
}

// outcome returns the objects, without times and revisions, which states there are, and how often what
// was removed.
func (s *Server) outcome() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for _, k := range s.kinds {
		for _, o := range k.objects {
			text, _ := json.Marshal(timeless(o.DeepCopy().Object))
			if o.GetNamespace() == stateNamespace && k.gvk.Kind == "ConfigMap" { // it tells what happened on the way
				text = nil
			}
			all[k.gvk.Kind+" "+o.GetNamespace()+"/"+o.GetName()] = string(text)
		}
	}
	count := map[string]int{}
	for _, r := range s.removed {
		count[r]++
		all[r] = fmt.Sprint(count[r], " times")
	}
	return all
}

// difference shows where two texts begin to differ.
func difference(x, y string) string {
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] {
		i++
	}
	around := func(s string) string { return s[min(len(s), max(0, i-80)):min(len(s), i+120)] }
	return fmt.Sprintf("%q, and without it %q", around(x), around(y))
}

// timeless removes what differs from run to run.
func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if lower := strings.ToLower(key); strings.HasSuffix(lower, "time") || strings.HasSuffix(lower, "timestamp") || lower == "resourceversion" || lower == "managedfields" || lower == "generation" || lower == "timeadded" || lower == "message" ||
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
