package machine

import (
	"io"
	"time"

	"github.com/fairlead/fairlead/internal/scene"
	"github.com/fairlead/fairlead/lifecycle"
)

// scenario is the content of a file: objects, and what happens to them.
type scenario struct {
	title   string
	start   time.Time
	end     time.Time
	objects []scene.Object
	owners  map[string]*time.Duration // how long the work of each takes; nil if never done
	desired int                       // voters of the control plane; 0 if there is none
	catchUp time.Duration
	policy  *lifecycle.Policy
	events  []event // by instant, then in the order of the file
	delay   time.Duration
}

// event is an action of a person or a system.
type event struct {
	at time.Time
	scene.Event
}

// readScenario reads a stream of YAML or JSON documents, one of them a Scenario.
func readScenario(src io.Reader, file string) (*scenario, error) {
	f, err := scene.Read(src, file, "machine simulate", "objects",
		"for", "instanceTakes", "voters", "catchUp", "owners", "policy", "events.put", "events.delete", "events.silence", "events.hear", "events.dropBudget", "events.skip")
	if err != nil {
		return nil, err
	}
	s := &scenario{title: f.Title, start: f.Start(), objects: f.Objects, desired: f.Spec.Voters, owners: map[string]*time.Duration{}}
	s.end = s.start.Add(f.Duration(f.Spec.For, time.Hour, "for"))
	s.delay = f.Duration(f.Spec.InstanceTakes, time.Minute, "instanceTakes")
	s.catchUp = f.Duration(f.Spec.CatchUp, 2*time.Minute, "catchUp")
	for i, o := range f.Spec.Owners {
		if s.owners[o.Name] = nil; o.Takes != "never" {
			d := f.Duration(o.Takes, time.Minute, "owners", i, "takes")
			s.owners[o.Name] = &d
		}
	}
	s.policy = policyOf(f)
	for i, at := range f.Times() {
		s.events = append(s.events, event{s.start.Add(at), f.Spec.Events[i]})
	}
	return s, f.Err()
}

// policyOf returns how machines are deleted.
func policyOf(f *scene.File) *lifecycle.Policy {
	of := &f.Spec.Policy
	p := &lifecycle.Policy{WaitForVolumes: of.WaitForVolumes, DrainTimeout: f.Duration(of.DrainTimeout, 0, "policy", "drainTimeout")}
	for i, d := range of.Deadlines {
		p.Deadlines = append(p.Deadlines, lifecycle.Deadline{
			Name: d.Hook, Owner: d.Owner, Then: lifecycle.Escalation(d.Then),
			Soft: f.Duration(d.Soft, 0, "policy", "deadlines", i, "soft"), Hard: f.Duration(d.Hard, 0, "policy", "deadlines", i, "hard"),
		})
	}
	for _, o := range of.Order {
		p.Order = append(p.Order, lifecycle.HookOrder{Point: lifecycle.Point(o.Point), Name: o.Hook, After: o.After})
	}
	return p
}
