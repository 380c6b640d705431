package extension_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// TestEngineScripts runs the scenarios of testdata/engine, each on package a of a
// shop. The commands:
//
//	new [keep=N] [adopt]         a new, empty cluster with a.v1 published
//	publish N                    a.v1 to a.vN are; 0 has no catalog
//	extension [VERSION]          makes one for package a, or changes it; JSON sets members of its spec
//	rollback [N]                 sets the annotation, or removes it
//	delete
//	sick DEPLOYMENT|CRD [TEXT]   an object is not ready; without text it is again
//	use [CRD]                    there is an object of the CRD, or of none
//	object                       puts an object there, JSON
//	remove KIND                  removes an object by hand
//	roles NAMESPACE              account "installer" exists and may do these, JSON
//	jump DURATION                sets the clock ahead
//	run                          makes passes until nothing changes; prints actions and blocks
//	show [status]                prints revisions and objects, or conditions
//	back N                       what stands against going back to a revision
func TestEngineScripts(t *testing.T) {
	shop, words := newShop(t), golden.NewWords(t, "testdata/engine/words.txt")
	golden.Run(t, "testdata/engine/*.txt", func(t *testing.T) golden.Handler {
		s := &engineScript{t: t, words: words, shop: shop}
		s.reset(&extension.Policy{})
		return s.command
	})
}

type engineScript struct {
	t      *testing.T
	words  *golden.Words
	shop   *shop
	h      *harbour
	clock  fairlead.ManualClock
	runner *extension.Runner
	did    []string
}

func (s *engineScript) reset(p *extension.Policy) {
	s.h = newHarbour(s.shop)
	s.clock.Set(noon)
	s.h.Changed = func(_ string, a extension.Action) { s.did = append(s.did, a.String()) }
	var err error
	if s.runner, err = extension.NewRunner(s.h, s.h.resolve, p, &fairlead.RunnerOptions{Clock: &s.clock}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *engineScript) command(c *golden.Command) string {
	arg := func(i int) string {
		if i < len(c.Args) {
			return c.Args[i].Key
		}
		return ""
	}
	x := s.h.World("a").Extension
	switch c.Name {
	case "new":
		p := &extension.Policy{Adopt: c.Has("adopt")}
		p.KeepRevisions, _ = strconv.Atoi(c.Value("keep"))
		s.reset(p)
	case "publish":
		s.h.newest, _ = strconv.Atoi(arg(0))
	case "extension":
		y := asks(arg(0))
		if strings.TrimSpace(c.Input) != "" {
			if err := json.Unmarshal([]byte(c.Input), &y.Spec); err != nil {
				return err.Error()
			}
		}
		s.h.PutExtension(y)
	case "rollback":
		y := *x
		y.Annotations = nil
		if n := arg(0); n != "" {
			y.Annotations = map[string]string{extension.RollbackAnnotation: n}
		}
		s.h.PutExtension(y)
	case "delete":
		s.h.DeleteExtension("a", s.clock.Now())
	case "sick":
		r := map[string]extension.Ref{"DEPLOYMENT": theDeployment, "CRD": theCRD}[arg(0)]
		if s.h.sick[r] = arg(1); arg(1) == "" {
			delete(s.h.sick, r)
		}
	case "use":
		var crds []string
		for _, a := range c.Args {
			crds = append(crds, a.Key)
		}
		s.h.use(crds...)
	case "object":
		if err := s.h.PutObject(json.RawMessage(strings.TrimSpace(c.Input))); err != nil {
			return err.Error()
		}
	case "remove":
		for _, o := range s.h.World("a").Objects {
			if o.Kind == arg(0) {
				s.h.MemBackend.DeleteObject(o.Ref)
			}
		}
	case "roles":
		return s.roles(arg(0), c.Input)
	case "jump":
		d, err := time.ParseDuration(arg(0))
		if err != nil {
			return err.Error()
		}
		s.clock.Advance(d)
	case "run":
		return s.run()
	case "show":
		return s.show(arg(0))
	case "back":
		n, _ := strconv.ParseInt(arg(0), 10, 64)
		problems, err := s.h.World("a").Rollback(n)
		if err != nil {
			return "error" + s.words.Data("Error", err.Error())
		}
		for i, p := range problems {
			problems[i] = strings.TrimSpace(s.words.Data("Rollback", p))
		}
		return fmt.Sprintf("%q", problems)
	default:
		s.t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
	}
	return "ok"
}

func (s *engineScript) roles(namespace, rules string) string {
	var c extension.Cluster
	script := &script{words: s.words, cluster: c}
	answer := script.command(&golden.Command{Name: "role", Input: rules, Args: []golden.Arg{{Key: namespace}}})
	s.h.SetCluster(script.cluster)
	return answer
}

// run makes passes until one decides on nothing, and its wake is not within 30 s.
func (s *engineScript) run() string {
	s.did = nil
	for range 200 {
		d, err := s.runner.Reconcile(s.t.Context(), "a")
		if err != nil {
			s.did = append(s.did, "error"+s.words.Data("Error", err.Error()))
		}
		switch wait := d.Wake.Sub(s.clock.Now()); {
		case len(d.Actions) > 0:
			continue
		case !d.Wake.IsZero() && wait < 30*time.Second:
			s.clock.Set(d.Wake)
			continue
		}
		for _, b := range d.Blocks() {
			s.did = append(s.did, "blocked: "+s.words.Block(b, noon))
		}
		if !d.Wake.IsZero() {
			s.did = append(s.did, "wakes at "+d.Wake.Format(time.TimeOnly))
		}
		return strings.Join(s.did, "\n")
	}
	return strings.Join(s.did, "\n") + "\nit never rests"
}

func (s *engineScript) show(what string) string {
	w := s.h.World("a")
	var b strings.Builder
	if what == "status" {
		if w.Extension == nil {
			return "there is no extension"
		}
		if is := w.Extension.Status.Install; is != nil {
			fmt.Fprintf(&b, "installed %s %s\n", is.Bundle.Name, is.Bundle.Version)
		}
		for _, c := range w.Extension.Status.Conditions {
			fmt.Fprintf(&b, "%s %s %s%s\n", c.Type, c.Status, c.Reason, s.words.Data(c.Type+" "+c.Reason, c.Message))
		}
		return b.String()
	}
	slices.SortFunc(w.Revisions, func(x, y extension.Revision) int { return cmp.Compare(x.Spec.Revision, y.Spec.Revision) })
	for _, r := range w.Revisions {
		fmt.Fprintf(&b, "%s %s %s", r.Name, r.Annotations[extension.BundleAnnotation], r.Spec.Lifecycle)
		for _, c := range r.Status.Conditions {
			fmt.Fprintf(&b, " %s=%s/%s", c.Type, c.Status, c.Reason)
		}
		b.WriteByte('\n')
	}
	for _, o := range w.Objects {
		fmt.Fprintf(&b, "%s of %q\n", o.Ref, o.Controller)
	}
	return b.String()
}
