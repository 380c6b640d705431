package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// A well is to have one pump in service, none older than sixty days. Pumps have numbers.
type (
	wellState struct{ fairlead.Pending }
	wellWorld struct {
		Service  int                `json:"service"` // the pump that is connected
		Since    time.Time          `json:"since"`   // when that was installed
		There    []int              `json:"there"`   // the pumps that are installed
		Outcomes []fairlead.Outcome `json:"outcomes,omitempty"`
	}
	wellAction struct {
		Do     string `json:"do"`
		Number int    `json:"number"`
	}
	wellDecision = fairlead.Decision[wellState, wellAction]
)

const (
	install = "install"
	connect = "connect"
	scrap   = "scrap"
)

func (a wellAction) Key() fairlead.Key {
	return fairlead.Key{Kind: a.Do, ID: fmt.Sprint(a.Number)}
}
func (a wellAction) String() string { return fmt.Sprint(a.Do, " pump ", a.Number) }

const pumpAge = 60 * 24 * time.Hour

// wellEngine replaces the pump before it is too old: the next one is installed and
// connected, and then the old one is scrapped.
func wellEngine() fairlead.Engine[wellState, wellWorld, wellAction] {
	return fairlead.Engine[wellState, wellWorld, wellAction]{
		Name: "well", Version: 1,
		Outcomes: func(w wellWorld, o []fairlead.Outcome) wellWorld { w.Outcomes = o; return w },
		Step: func(s wellState, w wellWorld, now time.Time) (d wellDecision) {
			l := fairlead.NewLedger(s.Pending, w.Outcomes, now, fairlead.Backoff{Min: 5 * time.Second})
			do := func(what string, number int) {
				a := wellAction{what, number}
				if l.Due(a.Key()) {
					d.Actions = append(d.Actions, a)
				}
				l.Block(fairlead.Block{Subject: "well", Reason: "Changing", Message: "waits to " + a.String()})
			}
			old, next := w.Since.Add(pumpAge), w.Service+1
			switch {
			case now.Before(old):
				l.At(old)
				for _, n := range w.There {
					if n < w.Service {
						do(scrap, n)
					}
				}
			case !slices.Contains(w.There, next):
				do(install, next)
			default:
				do(connect, next)
			}
			d.State, d.Blocked, d.Wake = wellState{l.Pending()}, l.Blocked(), l.Wake()
			return d
		},
	}
}

// well is the world.
type well struct {
	*rand.Rand
	clock   *fairlead.ManualClock
	service int
	since   map[int]time.Time // when each pump was installed
	there   []int
	blind   bool // scraps the pump in service as well
	another bool // installs one more when it is asked twice
}

func (w *well) Observe(context.Context, string) (wellWorld, error) {
	return wellWorld{Service: w.service, Since: w.since[w.service], There: slices.Clone(w.there)}, nil
}

func (w *well) Apply(_ context.Context, _ string, a wellAction) error {
	is := slices.Contains(w.there, a.Number)
	switch a.Do {
	case install:
		if w.another && is {
			a.Number += 100
		}
		if _, before := w.since[a.Number]; !before {
			w.there = append(w.there, a.Number)
			w.since[a.Number] = w.clock.Now()
		}
	case connect:
		if is {
			w.service = a.Number
		}
	case scrap:
		if !w.blind && a.Number == w.service {
			return &fairlead.RefusedError{Code: 409, Reason: "Conflict", Message: "it is in service"}
		}
		w.there = slices.DeleteFunc(w.there, func(n int) bool { return n == a.Number })
	}
	return nil
}

func (w *well) Change() {}

func (w *well) Check() error {
	if !slices.Contains(w.there, w.service) {
		return fmt.Errorf("pump %d is in service, and was scrapped", w.service)
	}
	if len(w.there) > 2 {
		return fmt.Errorf("there are the pumps %v", w.there)
	}
	return nil
}

func (w *well) Settled(string) error {
	if len(w.there) != 1 {
		return fmt.Errorf("there are the pumps %v", w.there)
	}
	if w.clock.Now().Sub(w.since[w.service]) > pumpAge {
		return errors.New("the pump is too old")
	}
	return nil
}

// What was requested before a long wait may arrive after it: a backend that scraps what is
// in service is found by that alone, and one that looks is not blamed.
func TestCheckEngineRotation(t *testing.T) {
	for _, c := range []struct {
		want  string // nothing is wrong if it is empty
		world well
	}{
		{"", well{}},
		{"was scrapped", well{blind: true}},
		{"there are the pumps", well{another: true}},
	} {
		for _, seed := range []uint64{1, 5001} { // not by luck
			open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[wellWorld, wellAction] {
				w := c.world
				w.Rand, w.clock, w.service, w.there, w.since = r, clock, 1, []int{1}, map[int]time.Time{1: clock.Now().Add(-time.Duration(r.IntN(60*24)) * time.Hour)}
				return &w
			}
			err := fairlead.CheckEngine(t.Context(), wellEngine(), open, &fairlead.TrialOptions{Runs: 300, Seed: seed})
			t.Log(err)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			case err != nil && strings.Count(err.Error(), "\n\t") > 20:
				t.Error("too many lines")
			}
		}
	}
}
