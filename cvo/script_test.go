package cvo_test

import (
	"fmt"
	"slices"
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
	words   *golden.Words
	clock   *fairlead.ManualClock
	store   *fairlead.MemStore
	backend *rig
	policy  *cvo.Policy
	runner  *cvo.Runner
	own     cvo.Release
	spec    cvo.Spec
	last    cvo.Decision
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, clock: new(fairlead.ManualClock), store: new(fairlead.MemStore), policy: &cvo.Policy{}}
	s.clock.Set(noon)
	s.backend = &rig{MemBackend: cvo.NewMemBackend(s.clock), says: map[string]string{}, fails: map[string]*fairlead.RefusedError{}, broken: map[string]string{}, modes: map[cvo.Mode]int{}}
	s.restart()
	return s
}

func (s *stage) restart() {
	s.runner = newRunner(s.t, s.backend, s.policy, &fairlead.RunnerOptions{Store: s.store, Clock: s.clock})
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
	w := golden.NewWords(t, "testdata/words/cvo.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		s := newStage(t)
		s.words = w
		return s.do
	})
}

// do carries out a command: what is said to the engine or about releases here,
// what happens to the cluster in happen, what is printed of it in show.
func (s *stage) do(c *golden.Command) string {
	switch c.Name {
	case "release":
		s.release(c)
	case "cluster":
		s.cluster(c)
	case "ask":
		s.ask(c)
	case "policy":
		s.policy = policyOf(c)
		s.restart()
	case "restart":
		if c.Has("without") {
			s.store = new(fairlead.MemStore)
		}
		s.restart()
	case "run":
		out := s.run(s.duration(c, "for"))
		if c.Has("quiet") {
			return ""
		}
		return out
	case "new":
		w := s.words
		*s = *newStage(s.t)
		s.words = w
	default:
		if !s.happen(c) {
			return s.show(c)
		}
	}
	return ""
}

func (s *stage) duration(c *golden.Command, key string) time.Duration {
	d, err := time.ParseDuration(c.Value(key))
	if err != nil {
		s.t.Fatalf("%s: %v", c.Pos, err)
	}
	return d
}

func (s *stage) release(c *golden.Command) {
	takes := time.Duration(0)
	if c.Has("takes") {
		takes = s.duration(c, "takes")
	}
	delete(s.backend.broken, c.Value("image"))
	if c.Has("broken") {
		s.backend.broken[c.Value("image")] = c.Value("broken")
	}
	parts := partsOf(s.t, c.Input)
	for _, p := range parts {
		s.words.Name(p.component)
	}
	s.backend.SetRelease(c.Value("image"), release(s.t, c.Value("version"), parts, nil), !c.Has("unsigned"), takes)
}

func (s *stage) cluster(c *golden.Command) {
	version, image, _ := strings.Cut(c.Value("own"), "@")
	s.own = cvo.Release{Version: version, Image: image}
	s.spec.ClusterID, s.spec.Upstream = c.Value("id"), c.Value("upstream")
	s.backend.SetCluster("c", s.spec, s.own)
	s.backend.SetStatus("c", func(status *cvo.Status) {
		was(status, c.Input)
		status.Capabilities.EnabledCapabilities, status.VersionHash = c.Values("capabilities"), c.Value("hash")
	})
}

// happen changes the cluster, and reports whether the command asks for that.
func (s *stage) happen(c *golden.Command) bool {
	switch c.Name {
	case "says":
		if s.backend.says[c.Args[0].Key] = strings.TrimSpace(c.Input); c.Input == "" {
			delete(s.backend.says, c.Args[0].Key)
		}
	case "fails":
		task := c.Args[0].Key + " " + c.Args[1].Key
		s.backend.fails[task] = cvo.Refuse(cvo.Class(c.Value("class")), errDown)
		if !c.Has("class") {
			delete(s.backend.fails, task)
		}
	case "gates":
		s.backend.gates = append([]string{}, c.Words()...)
	case "offers":
		s.backend.offer(s.t, c.Input)
	case "operator":
		s.backend.Operators[c.Args[0].Key] = s.duration(c, "takes")
	case "rollout":
		s.backend.Rollouts[c.Args[0].Key] = s.duration(c, "takes")
	case "degrade":
		s.backend.Degrade("c", c.Args[0].Key, strings.TrimSpace(c.Input))
	case "interrupt":
		s.backend.Interrupt("c", c.Args[0].Key, strings.TrimSpace(c.Input))
	case "finish":
		s.backend.Finish("c", c.Args[0].Key)
	default:
		return false
	}
	return true
}

// show prints what is asked for.
func (s *stage) show(c *golden.Command) string {
	status := s.backend.Version("c").Status
	switch c.Name {
	case "status":
		return s.status()
	case "blocked":
		var out strings.Builder
		for _, b := range s.last.Blocked {
			fmt.Fprintln(&out, s.words.Block(b, noon))
		}
		return out.String()
	case "history":
		var out strings.Builder
		for _, h := range status.History {
			fmt.Fprintln(&out, strings.TrimSpace(fmt.Sprintf("%s %s verified=%v%s", h.Version, h.State, h.Verified, s.words.Data("history acceptedRisks", h.AcceptedRisks))))
		}
		return out.String()
	case "capabilities":
		return fmt.Sprintln(strings.Join(status.Capabilities.EnabledCapabilities, " "))
	case "updates":
		return s.told(status)
	case "described":
		d := status.Desired
		return fmt.Sprintln(d.Version, d.URL, d.Channels)
	case "hash":
		return status.VersionHash + "\n"
	case "generation":
		v := s.backend.Version("c")
		return fmt.Sprintln(v.Status.ObservedGeneration, "of", v.Generation)
	case "counts":
		return s.backend.counted()
	case "writes":
		var out []string
		for id, n := range s.backend.Writes("c") {
			out = append(out, fmt.Sprintf("%s %d", id, n))
		}
		slices.Sort(out)
		return strings.Join(out, "\n") + "\n"
	}
	s.t.Fatalf("%s: unknown command %s", c.Pos, c.Name)
	return ""
}

func (s *stage) ask(c *golden.Command) {
	s.spec.DesiredUpdate, s.spec.Overrides, s.spec.Capabilities = nil, nil, nil
	if c.Has("version") || c.Has("image") {
		s.spec.DesiredUpdate = &cvo.Update{Version: c.Value("version"), Image: c.Value("image"), Force: c.Has("force")}
		for _, risk := range c.Values("accept") {
			s.spec.DesiredUpdate.AcceptRisks = append(s.spec.DesiredUpdate.AcceptRisks, cvo.AcceptRisk{Name: risk})
		}
	}
	if c.Has("override") {
		s.spec.Overrides = []payload.Override{{Group: "apps", Kind: "Deployment", Namespace: c.Value("override"), Name: c.Value("override"), Unmanaged: true}}
	}
	if c.Has("set") {
		s.spec.Capabilities = &cvo.CapabilitiesSpec{BaselineCapabilitySet: c.Value("set"), AdditionalEnabledCapabilities: c.Values("enable")}
	}
	s.backend.SetCluster("c", s.spec, s.own)
}

// policyOf reads a policy. Its capabilities are Build, Console and Storage, of
// which the set v1 has the first two.
func policyOf(c *golden.Command) *cvo.Policy {
	p := &cvo.Policy{StopBefore: c.Value("stop")}
	if c.Has("capabilities") {
		p.Capabilities = &cvo.CapabilitySets{
			Known:   []string{"Storage", "Build", "Console"},
			Sets:    map[string][]string{"v1": {"Build", "Console"}, "v2": {"Build", "Console", "Storage"}},
			Current: "v2",
		}
	}
	if n, err := strconv.ParseUint(c.Value("major"), 10, 64); err == nil {
		p.Filter = payload.NewFilter()
		p.Filter.Major = &n
	}
	return p
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
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "operator":
				p.operator = true
			case "create-only":
				p.notes += ", release.openshift.io/create-only: \"true\""
			case "delete":
				p.notes += ", release.openshift.io/delete: \"true\""
			case "profile":
				p.profile = value
			case "crd":
				p.crds = true
			case "gate":
				p.notes += ", release.openshift.io/feature-gate: \"" + value + "\""
			case "capability":
				p.notes += ", capability.openshift.io/name: \"" + value + "\""
			case "major":
				p.notes += ", release.openshift.io/major-version: \"" + value + "\""
			default:
				if p.objects, err = strconv.Atoi(word); err != nil {
					t.Fatal(err)
				}
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
		if err != nil && len(s.backend.fails) == 0 {
			fmt.Fprintln(&out, "error"+s.words.Data("error", err.Error()))
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
		fmt.Fprintln(&out, strings.TrimSpace(fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))+s.words.Data(strings.TrimSpace(c.Type+"="+string(c.Status)+" "+c.Reason), c.Message))
	}
	return out.String()
}
