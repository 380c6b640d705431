package cvo_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/golden"
)

// stage is what a script plays on: one cluster in memory and one engine.
type stage struct {
	t       *testing.T
	clock   *fairlead.ManualClock
	store   *fairlead.MemStore
	backend *cvo.MemBackend
	policy  *cvo.Policy
	runner  *cvo.Runner
	own     cvo.Release
	spec    cvo.Spec
	last    cvo.Decision
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, clock: new(fairlead.ManualClock), store: new(fairlead.MemStore), policy: &cvo.Policy{}}
	s.clock.Set(noon)
	s.backend = cvo.NewMemBackend(s.clock)
	s.restart()
	return s
}

func (s *stage) restart() {
	s.runner = cvo.NewRunner(s.backend, s.policy, &fairlead.RunnerOptions{Store: s.store, Clock: s.clock})
}

// TestScripts plays the scripts. The commands:
//
//	release version=V image=I [unsigned] [takes=D]   an image and its components, "RUNLEVEL NAME [OBJECTS] [operator]" a line
//	cluster own=V@I                                  a cluster that runs an engine of that release
//	ask [version=V] [image=I] [force] [override=COMPONENT]
//	operator NAME takes=D | rollout NAME takes=D | degrade NAME | interrupt NAME | finish NAME
//	                 of the second and third the message is the input; none ends it
//	policy stop=RUNLEVEL
//	run for=D        lets passes happen as they fall due, and prints what is done
//	restart          another engine takes over
//	status | blocked | history
func TestScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler { return newStage(t).do })
}

func (s *stage) do(c *golden.Command) string {
	duration := func(key string) time.Duration {
		d, err := time.ParseDuration(c.Value(key))
		if err != nil {
			s.t.Fatalf("%s: %v", c.Pos, err)
		}
		return d
	}
	switch c.Name {
	case "release":
		takes := time.Duration(0)
		if c.Has("takes") {
			takes = duration("takes")
		}
		s.backend.SetRelease(c.Value("image"), release(s.t, c.Value("version"), partsOf(s.t, c.Input), nil), !c.Has("unsigned"), takes)
	case "cluster":
		version, image, _ := strings.Cut(c.Value("own"), "@")
		s.own = cvo.Release{Version: version, Image: image}
		s.backend.SetCluster("c", s.spec, s.own)
	case "ask":
		s.ask(c)
	case "operator":
		s.backend.Operators[c.Args[0].Key] = duration("takes")
	case "rollout":
		s.backend.Rollouts[c.Args[0].Key] = duration("takes")
	case "degrade":
		s.backend.Degrade("c", c.Args[0].Key, strings.TrimSpace(c.Input))
	case "interrupt":
		s.backend.Interrupt("c", c.Args[0].Key, strings.TrimSpace(c.Input))
	case "finish":
		s.backend.Finish("c", c.Args[0].Key)
	case "policy":
		s.policy.StopBefore = c.Value("stop")
		s.restart()
	case "restart":
		s.restart()
	case "run":
		return s.run(duration("for"))
	case "status":
		return s.status()
	case "blocked":
		var out strings.Builder
		for _, b := range s.last.Blocked {
			fmt.Fprintln(&out, b)
		}
		return out.String()
	case "history":
		var out strings.Builder
		for _, h := range s.backend.Version("c").Status.History {
			fmt.Fprintf(&out, "%s %s verified=%v %s\n", h.Version, h.State, h.Verified, strings.ReplaceAll(h.AcceptedRisks, "\n", "|"))
		}
		return out.String()
	default:
		s.t.Fatalf("%s: unknown command %s", c.Pos, c.Name)
	}
	return ""
}

func (s *stage) ask(c *golden.Command) {
	s.spec.DesiredUpdate = nil
	if c.Has("version") || c.Has("image") {
		s.spec.DesiredUpdate = &cvo.Update{Version: c.Value("version"), Image: c.Value("image"), Force: c.Has("force")}
	}
	s.spec.Overrides = nil
	if c.Has("override") {
		s.spec.Overrides = []payload.Override{{Group: "apps", Kind: "Deployment", Namespace: c.Value("override"), Name: c.Value("override"), Unmanaged: true}}
	}
	s.backend.SetCluster("c", s.spec, s.own)
}

func partsOf(t *testing.T, text string) []part {
	var parts []part
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		level, err := strconv.Atoi(f[0])
		if err != nil {
			t.Fatal(err)
		}
		p := part{runlevel: level, component: f[1]}
		for _, word := range f[2:] {
			if word == "operator" {
				p.operator = true
			} else if p.objects, err = strconv.Atoi(word); err != nil {
				t.Fatal(err)
			}
		}
		parts = append(parts, p)
	}
	return parts
}

// run makes passes as they fall due, and prints the actions with the minutes
// since noon.
func (s *stage) run(d time.Duration) string {
	var out strings.Builder
	end := s.clock.Now().Add(d)
	for {
		decision, err := s.runner.Reconcile(s.t.Context(), "c")
		if err != nil {
			fmt.Fprintln(&out, "error:", err)
			return out.String()
		}
		s.last = decision
		for _, a := range decision.Actions {
			if _, ok := a.(cvo.WriteStatus); !ok {
				fmt.Fprintf(&out, "%s %s\n", s.clock.Now().Format("15:04:05"), a)
			}
		}
		if len(decision.Actions) > 0 {
			continue
		}
		next := earliest(decision.Wake, s.backend.Next("c"))
		if next.IsZero() || next.After(end) {
			s.clock.Set(end)
			return out.String()
		}
		s.clock.Set(next)
	}
}

func (s *stage) status() string {
	v := s.backend.Version("c")
	var out strings.Builder
	fmt.Fprintf(&out, "desired %s\n", v.Status.Desired.Version)
	for _, c := range v.Status.Conditions {
		fmt.Fprintf(&out, "%s=%s %s: %s\n", c.Type, c.Status, c.Reason, strings.ReplaceAll(c.Message, "\n", "|"))
	}
	return out.String()
}
