package cvo

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
)

// work advances the tasks of the release.
func (s *step) work() {
	w := s.Work
	s.History = Record(s.History, w.Release, w.Verified, w.Risks, false, s.now)
	r := s.w.retrieved(w.Release.Image)
	if r == nil || r.Payload == nil {
		s.reload(r)
		return
	}
	w.Tries, w.Try = 0, time.Time{}
	s.prep = s.w.prepare(r.Payload, s.Enabled, s.policy, w.Mode, w.Pass)
	if w.Hash != "" && w.Hash != s.prep.hash {
		s.restart(r.Payload)
	}
	w.Hash = s.prep.hash
	if why := s.nothing(r.Payload, true); len(s.prep.graph.Tasks) == 0 && why != "" {
		s.fail(&TaskError{Reason: causeIntegrity, Message: why, Effect: EffectFail}, -1)
		s.Block(fairlead.Block{
			Subject: "release " + name(w.Release), Reason: causeIntegrity, Owner: "administrator", Since: w.Begun,
			Message: why, Unblock: "request a release that has manifests for the cluster, or set the profile of the cluster",
		})
		return
	}
	if s.now.Before(w.Rest) {
		s.lapses()
		s.At(w.Rest)
		return
	}
	if w.Begun.IsZero() || w.Done == nil && len(w.Running) == 0 && w.Mode == Reconciling {
		w.Begun = s.now
	}
	s.tasks()
	if w.Done.Count() == len(s.prep.graph.Tasks) {
		s.passOver()
	}
}

// reload requests the payload of the work, which this process does not have.
func (s *step) reload(r *Retrieved) {
	w := s.Work
	next, why := w.Try.Add(s.policy.RetrieveTimeout), ""
	last := retrieval(w.Release, w.Tries-1, w.Try, true)
	again := s.DueAt(fairlead.Retry{Key: last.Key(), Attempts: w.Tries, Last: w.Try}, s.policy.backoff())
	outcome := s.Outcome(last.Key())
	switch {
	case r != nil:
		e := r.fault()
		next, why = again, ": "+e.Message
		s.fail(e, -1)
	case outcome != nil && outcome.Failed:
		next, why = again, ": "+outcome.Message
	}
	if w.Try.IsZero() || !s.now.Before(next) {
		w.Tries++
		w.Try = s.now
		s.actions = append(s.actions, retrieval(w.Release, w.Tries-1, w.Try, true))
		s.At(s.now.Add(s.policy.RetrieveTimeout))
	} else {
		if outcome == nil && (r == nil || r.Try < last.Try) {
			s.actions = append(s.actions, last) // the process that began it may have died
		}
		s.At(next)
	}
	s.keepWaits()
	s.Block(fairlead.Block{
		Subject: "release " + name(w.Release), Reason: AcceptRetrieve, Owner: "cluster", Since: w.Begun,
		Message: "its payload is not available" + why, Unblock: "wait for the retrieval, and keep the image in its registry",
	})
}

// restart begins a pass with another selection of tasks. While installing, the
// order does not matter, and tasks that are done are checked again like all others.
func (s *step) restart(p *payload.Payload) {
	w := s.Work
	if w.Mode == Reconciling {
		w.Mode = Updating
	}
	w.Pass, w.Done, w.Running, w.Rest, w.Begun = 0, nil, nil, time.Time{}, s.now
	s.prep = s.w.prepare(p, s.Enabled, s.policy, w.Mode, w.Pass)
}

// passOver ends a pass in which every task was done.
func (s *step) passOver() {
	w := s.Work
	s.passed = true
	s.History = Record(s.History, w.Release, w.Verified, w.Risks, true, s.now)
	if w.Mode == Reconciling {
		w.Pass++
	} else {
		w.Mode, w.Pass = Reconciling, 0
	}
	w.Done, w.Running = nil, nil
	w.Rest = s.now.Add(s.policy.Interval)
	s.At(w.Rest)
}

// tasks goes through the tasks that may be running: it removes those that are done,
// and starts those that can start.
func (s *step) tasks() {
	w, g := s.Work, s.prep.graph
	done := make([]bool, len(g.Tasks))
	for i := range done {
		done[i] = w.Done.Has(i)
	}
	run := g.Start(&payload.RunOptions{Durations: s.prep.durations, Done: done})
	workers := s.workers()
	var running []Running
	for i, ok := run.Next(); ok; i, ok = run.Next() {
		if s.held(g.Tasks[i]) {
			continue
		}
		t := s.running(i)
		finished, busy := s.task(&t, g.Tasks[i], workers > 0)
		if busy {
			workers--
		}
		if finished {
			w.Done = w.Done.With(i)
			run.Done(i)
			continue
		}
		if e := t.Error; e != nil && (t.Sent || !e.Retry || t.Try >= s.policy.Attempts) {
			s.fail(e, i)
		}
		running = append(running, t)
	}
	slices.SortFunc(running, func(a, b Running) int { return a.Task - b.Task })
	w.Running = running
	s.waits()
	s.explain()
	s.lapses()
	if len(running) > 0 {
		s.At(s.now.Add(s.policy.Interval)) // events may be lost
	}
}

// workers is how many manifests may be applied in parallel.
func (s *step) workers() int {
	switch s.Work.Mode {
	case Initializing:
		return len(s.prep.graph.Tasks)
	case Reconciling:
		return min(2, s.policy.Workers)
	}
	return s.policy.Workers
}

// held reports whether a task is at or behind the runlevel at which to stop, and
// explains it once.
func (s *step) held(m *payload.Manifest) bool {
	stop := s.policy.StopBefore
	if stop == "" || s.Work.Mode != Updating || m.Name.IsZero() || m.Name.Runlevel < stop {
		return false
	}
	if !slices.ContainsFunc(s.Blocked(), func(b fairlead.Block) bool { return b.Reason == "Paused" }) {
		s.Block(fairlead.Block{
			Subject: "release " + name(s.Work.Release), Reason: "Paused", Owner: "policy", Since: s.Work.Begun,
			Message: "the update stops before runlevel " + stop, Unblock: "remove StopBefore from the policy",
		})
	}
	return true
}

// running returns what is known about a task that may be running.
func (s *step) running(i int) Running {
	k, ok := slices.BinarySearchFunc(s.Work.Running, i, func(r Running, i int) int { return r.Task - i })
	if ok {
		return s.Work.Running[k]
	}
	return Running{Task: i, Since: s.now}
}

// task advances one task. busy says that it takes a worker.
func (s *step) task(t *Running, m *payload.Manifest, free bool) (finished, busy bool) {
	if m.Delete() && s.Work.Mode != Updating {
		return true, false // whoever created it since may keep it
	}
	if !t.Sent {
		switch outcome := s.Outcome(s.key(t, m, t.Try)); {
		case outcome == nil:
		case outcome.Failed:
			s.failed(t, taskFailed(s.prep.graph.Label(t.Task), outcome))
		default:
			t.Sent, t.Error = true, nil
		}
	}
	if !t.Sent {
		if next := s.next(t, m); s.now.Before(next) {
			s.At(next)
			return false, false
		}
		if !free {
			return false, false
		}
		s.send(t, m)
		return false, true
	}
	t.Error = s.ready(t, m)
	if e := t.Error; e == nil || e.Effect == EffectReport {
		return true, false
	}
	if t.Error.Reason == "WorkloadNotProgressing" {
		s.failed(t, t.Error)
		s.At(s.next(t, m))
	}
	return false, false
}

// fail notes the error of a task, or, with -1, of all of them.
func (s *step) fail(e *TaskError, task int) {
	s.errors = append(s.errors, e)
	s.keeps = append(s.keeps, task)
}

// failed notes that an attempt failed.
func (s *step) failed(t *Running, e *TaskError) {
	t.Try++
	t.Sent, t.Error, t.Last = false, e, s.now
}

// next is when a task may be tried again: after the backoff, and not before the
// server allows it.
func (s *step) next(t *Running, m *payload.Manifest) time.Time {
	if t.Try == 0 {
		return time.Time{}
	}
	return s.DueAt(fairlead.Retry{Key: s.key(t, m, t.Try-1), Attempts: t.Try, Last: t.Last}, s.policy.backoff())
}

// key distinguishes an attempt from all others, including those of an earlier
// update to the same release.
func (s *step) key(t *Running, m *payload.Manifest, try int) fairlead.Key {
	kind := "Apply"
	if m.Delete() {
		kind = "Delete"
	}
	return fairlead.Key{Kind: kind, ID: s.attempt(t, try)}
}

func (s *step) attempt(t *Running, try int) string {
	w := s.Work
	return fmt.Sprintf("%s/%s/%d/%d/%d/%d", w.Hash, w.Mode, w.Begun.UnixNano(), w.Pass, t.Task, try)
}

// send applies the manifest of a task.
func (s *step) send(t *Running, m *payload.Manifest) {
	label := s.prep.graph.Label(t.Task)
	if !m.Delete() {
		s.actions = append(s.actions, Apply{Attempt: s.attempt(t, t.Try), Manifest: m, Label: label, Release: s.Work.Release, Mode: s.Work.Mode})
		return
	}
	s.actions = append(s.actions, Delete{Attempt: s.attempt(t, t.Try), Manifest: m, Label: label})
}

// ready says why a task whose manifest was applied is not done, or returns nil.
func (s *step) ready(t *Running, m *payload.Manifest) *TaskError {
	if m.Delete() {
		return nil
	}
	if m.ClusterOperator() {
		return Gate(m.ID.Name, s.prep.wanted[t.Task], s.w.operator(m.ID.Name), s.Work.Mode)
	}
	l := s.w.workload(m.ID)
	switch {
	case l == nil:
		return nil
	case l.Failed != "":
		return &TaskError{
			Reason: "WorkloadNotProgressing", Name: m.ID.Name, Effect: EffectFail,
			Message: fmt.Sprintf("%s cannot %s: %s", s.prep.graph.Label(t.Task), courseOf(m.ID.Kind).verb, l.Failed),
		}
	case l.Waiting != "":
		return &TaskError{
			Reason: "WorkloadNotAvailable", Name: m.ID.Name, Effect: EffectNone,
			Message: fmt.Sprintf("%s %s yet: %s", s.prep.graph.Label(t.Task), courseOf(m.ID.Kind).pending, l.Waiting),
		}
	}
	return nil
}

// course describes, in words, how applied resources of a kind become ready.
type course struct {
	verb    string // what they do
	pending string // that they have not done it
	end     string // when they have
}

func courseOf(kind string) course {
	switch kind {
	case "CustomResourceDefinition":
		return course{"be established", "is not established", "the API server must accept its names and serve it"}
	case "Job":
		return course{"complete", "has not completed", "its pods must succeed"}
	}
	return course{"roll out", "has not rolled out", "wait until its pods are ready"}
}

// waits notes since when operators are waited for. One that has reached its version
// is forgotten.
func (s *step) waits() {
	s.started = map[string]time.Time{}
	for _, t := range s.Work.Running {
		if m := s.prep.graph.Tasks[t.Task]; t.Sent && m.ClusterOperator() {
			s.started[m.ID.Name] = s.Since(operatorSubject(m.ID.Name), waitReached)
		}
	}
}

// keepWaits remembers since when operators are waited for while their state is
// unknown.
func (s *step) keepWaits() {
	for _, w := range s.State.Waits {
		if w.Reason == waitReached {
			s.Since(w.Subject, w.Reason)
		}
	}
}

// explain says what each task that is not done waits for.
func (s *step) explain() {
	for _, t := range s.Work.Running {
		m, e := s.prep.graph.Tasks[t.Task], t.Error
		if e == nil {
			continue
		}
		b := fairlead.Block{Subject: s.prep.graph.Label(t.Task), Reason: e.Reason, Message: e.Message, Since: t.Since, Owner: "cluster"}
		if e.Detail != "" {
			b.Message += " (" + e.Detail + ")"
		}
		switch {
		case m.ClusterOperator():
			b = s.operatorBlock(b, t.Task)
		case e.Reason == "WorkloadNotAvailable":
			b.Unblock = fmt.Sprintf("%s; about %s is normal", courseOf(m.ID.Kind).end, s.prep.durations[t.Task].Round(time.Second))
		default:
			b.Unblock = fmt.Sprintf("wait: it is retried at %s (attempt %d)", s.next(&t, m).Format(time.RFC3339), t.Try+1)
		}
		s.Block(b)
	}
}

// operatorBlock completes the Block about an operator.
func (s *step) operatorBlock(b fairlead.Block, task int) fairlead.Block {
	name := s.prep.graph.Tasks[task].ID.Name
	b.Subject, b.Owner = operatorSubject(name), "operator "+name
	usual := s.prep.durations[task].Round(time.Second)
	b.Unblock = fmt.Sprintf("wait until it is available, not degraded and at its version; about %s is normal, over %s is slow", usual, s.policy.slow(name))
	return b
}

// lapses finds operators that are unhealthy although no task waits for them: while
// reconciling all of them, also between passes; while installing those that are
// done and degraded, which holds nothing up. So reports about them do not appear
// and disappear with the passes.
func (s *step) lapses() {
	w := s.Work
	if w.Mode == Updating {
		return
	}
	for _, i := range s.prep.operators {
		if s.running(i).Error != nil || w.Mode == Initializing && !w.Done.Has(i) {
			continue
		}
		m := s.prep.graph.Tasks[i]
		live := s.w.operator(m.ID.Name)
		e := Gate(m.ID.Name, s.prep.wanted[i], live, w.Mode)
		if e == nil || w.Mode == Initializing && e.Effect != EffectReport {
			continue
		}
		s.fail(e, i)
		s.Block(s.operatorBlock(fairlead.Block{Reason: e.Reason, Message: e.Message, Since: unwell(live)}, i))
	}
}

// unwell is since when an operator reports that it is not healthy; zero if it does
// not say.
func unwell(live *ClusterOperator) time.Time {
	if live == nil {
		return time.Time{}
	}
	if c := fairlead.FindCondition(live.Status.Conditions, "Available"); c != nil && c.Status != True {
		return c.LastTransitionTime
	}
	if c := fairlead.FindCondition(live.Status.Conditions, "Degraded"); c != nil && c.Status != False {
		return c.LastTransitionTime
	}
	return time.Time{}
}
