package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/lifecycle"
)

// scenario is what a file says: objects, and what happens to them.
type scenario struct {
	title   string
	start   time.Time
	end     time.Time
	objects []placed
	owners  map[string]*time.Duration // how long each takes for its work; nil if it never does it
	desired int                       // voters of the control plane; 0 if there is none
	catchUp time.Duration
	policy  *lifecycle.Policy
	events  []event // by instant, then in the order of the file
	delay   time.Duration
}

// placed is an object with where it stands.
type placed struct {
	at  doc.Position
	raw json.RawMessage
}

// event is something that somebody does.
type event struct {
	at      time.Time
	delete  string            // this machine
	put     []json.RawMessage // these objects
	silence string            // nothing is heard any more of this node
	hear    string            // this node is heard again
	drop    string            // this disruption budget goes: namespace/name
	skip    *skipped          // a person says to go on without a hook
}

type skipped struct {
	Machine string `json:"machine"` // its name
	Hook    string `json:"hook"`    // POINT/NAME
}

// scenarioFile is the form of a Scenario in a file.
type scenarioFile struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Start         string      `json:"start"`         // an instant; 2026-03-01T12:00:00Z if it is missing
		For           string      `json:"for"`           // a duration; an hour if it is missing
		InstanceTakes string      `json:"instanceTakes"` // how long the cloud takes to delete one
		Voters        int         `json:"voters"`        // of etcd; 0 if it is not played
		CatchUp       string      `json:"catchUp"`       // how long a new member takes
		Owners        []ownerFile `json:"owners"`        // of hooks
		Policy        policyFile  `json:"policy"`
		Events        []eventFile `json:"events"`
	} `json:"spec"`
}

type ownerFile struct {
	Name  string `json:"name"`
	Takes string `json:"takes"` // how long its work takes; never, if it does not do it
}

type policyFile struct {
	WaitForVolumes bool           `json:"waitForVolumes"`
	DrainTimeout   string         `json:"drainTimeout"`
	Deadlines      []deadlineFile `json:"deadlines"`
	Order          []orderFile    `json:"order"`
}

type deadlineFile struct {
	Hook  string `json:"hook"`
	Owner string `json:"owner"`
	Soft  string `json:"soft"`
	Hard  string `json:"hard"`
	Then  string `json:"then"`
}

type orderFile struct {
	Point string   `json:"point"`
	Hook  string   `json:"hook"`
	After []string `json:"after"`
}

type eventFile struct {
	At         string            `json:"at"` // since the start
	Delete     string            `json:"delete"`
	Put        []json.RawMessage `json:"put"`
	Silence    string            `json:"silence"`
	Hear       string            `json:"hear"`
	DropBudget string            `json:"dropBudget"`
	Skip       *skipped          `json:"skip"`
}

// readScenario reads a stream of YAML or JSON documents, one of them a Scenario.
func readScenario(src io.Reader, file string) (*scenario, error) {
	r := doc.NewReader(src, file, doc.Limits{})
	var s *scenario
	var objects []placed
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		v := doc.Tree(d.JSON)
		if v == nil || v.Kind != '{' {
			return nil, fmt.Errorf("%s: an object is expected: a Scenario, a Machine, or what else a cluster holds", d.Start)
		}
		if kind, _ := v.Get("kind").Text(); kind != "Scenario" {
			objects = append(objects, placed{d.Start, v.JSON()})
			continue
		}
		if s != nil {
			return nil, fmt.Errorf("%s: there is a Scenario before this one; a file has one", d.Start)
		}
		var f scenarioFile
		for _, m := range doc.Decode(v, &f, doc.Strict) {
			return nil, fmt.Errorf("%s: %w; %s", d.Position(m.Value.KeyOffset), m, m.Hint())
		}
		if s, err = f.scenario(); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Start, err)
		}
	}
	if s == nil {
		return nil, fmt.Errorf("%s: there is no Scenario; add a document of kind Scenario that says what happens", file)
	}
	s.objects = objects
	return s, nil
}

// times reads instants and durations; the first that is none is the error.
type times struct{ err error }

func (t *times) duration(path, text string, otherwise time.Duration) time.Duration {
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if (err != nil || d < 0) && t.err == nil {
		t.err = fmt.Errorf("%s is %q; write a duration such as 90s or 10m", path, text)
	}
	return d
}

func (f *scenarioFile) scenario() (*scenario, error) {
	var t times
	s := &scenario{title: f.Metadata.Name, desired: f.Spec.Voters, owners: map[string]*time.Duration{}}
	s.start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if f.Spec.Start != "" {
		var err error
		if s.start, err = time.Parse(time.RFC3339, f.Spec.Start); err != nil {
			return nil, fmt.Errorf("spec.start is %q; write an instant such as 2026-03-01T12:00:00Z", f.Spec.Start)
		}
	}
	s.end = s.start.Add(t.duration("spec.for", f.Spec.For, time.Hour))
	s.delay = t.duration("spec.instanceTakes", f.Spec.InstanceTakes, time.Minute)
	s.catchUp = t.duration("spec.catchUp", f.Spec.CatchUp, 2*time.Minute)
	for i, o := range f.Spec.Owners {
		if s.owners[o.Name] = nil; o.Takes != "never" {
			d := t.duration(fmt.Sprintf("spec.owners[%d].takes", i), o.Takes, time.Minute)
			s.owners[o.Name] = &d
		}
	}
	s.policy = f.Spec.Policy.policy(&t)
	for i, e := range f.Spec.Events {
		at := s.start.Add(t.duration(fmt.Sprintf("spec.events[%d].at", i), e.At, 0))
		if n := len(s.events); n > 0 && at.Before(s.events[n-1].at) {
			return nil, fmt.Errorf("spec.events[%d].at is %s, before the event above; list events in their order", i, e.At)
		}
		s.events = append(s.events, event{at, e.Delete, e.Put, e.Silence, e.Hear, e.DropBudget, e.Skip})
	}
	return s, t.err
}

func (f *policyFile) policy(t *times) *lifecycle.Policy {
	p := &lifecycle.Policy{WaitForVolumes: f.WaitForVolumes, DrainTimeout: t.duration("spec.policy.drainTimeout", f.DrainTimeout, 0)}
	for i, d := range f.Deadlines {
		path := fmt.Sprintf("spec.policy.deadlines[%d]", i)
		p.Deadlines = append(p.Deadlines, lifecycle.Deadline{
			Name: d.Hook, Owner: d.Owner, Soft: t.duration(path+".soft", d.Soft, 0), Hard: t.duration(path+".hard", d.Hard, 0),
			Then: lifecycle.Escalation(d.Then),
		})
	}
	for _, o := range f.Order {
		p.Order = append(p.Order, lifecycle.HookOrder{Point: lifecycle.Point(o.Point), Name: o.Hook, After: o.After})
	}
	return p
}
