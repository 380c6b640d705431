package drain_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestAdmitScripts runs the scripts of testdata/admit. There is one command, which
// goes on with the slots of the one before:
//
//	admit NAME:ROLE:MAX[:LABEL[:SURGE]]... [at=D]
//
// and its input are members, one a line:
//
//	NAME [role=R] [domain=D] [asked=D] [serving] [down=WHY] [since=D] [priority=N]
//	    [begun] [held=WHY] [replacement=R] [uid=-]
func TestAdmitScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words/admit.txt")
	golden.Run(t, "testdata/admit/*.txt", func(t *testing.T) golden.Handler {
		var slots []drain.Slot
		return func(c *golden.Command) string {
			if c.Name != "admit" {
				return "there is no command " + c.Name
			}
			var limits []drain.Limit
			now := noon
			for _, a := range c.Args {
				if a.Key == "at" {
					now = noon.Add(span(a.Values[0]))
					continue
				}
				limits = append(limits, limitOf(a.Key))
			}
			var members []drain.Member
			for line := range strings.Lines(c.Input) {
				members = append(members, memberOf(line))
			}
			a, err := drain.Admit(slots, members, limits, now)
			if err != nil {
				return err.Error()
			}
			slots = a.Slots
			text := "admitted: " + strings.Join(a.Admitted, " ")
			if len(a.Replace) > 0 {
				text += "\nreplace: " + strings.Join(a.Replace, " ")
			}
			for _, b := range a.Blocked {
				text += "\n" + words.Block(b, noon)
			}
			return text
		}
	})
}

func span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func amount(text string) drain.IntOrString {
	if n, err := strconv.Atoi(text); err == nil {
		return drain.IntOrString{Int: n}
	}
	return drain.IntOrString{Text: text}
}

func limitOf(text string) drain.Limit {
	f := strings.Split(text, ":")
	l := drain.Limit{Name: f[0], Max: amount(f[2])}
	if f[1] != "" {
		l.Selector.MatchLabels = map[string]string{"role": f[1]}
	}
	if len(f) > 3 {
		l.Per = f[3]
	}
	if len(f) > 4 {
		l.Surge = amount(f[4])
	}
	return l
}

func memberOf(line string) drain.Member {
	f := strings.Fields(line)
	m := drain.Member{Name: f[0], UID: "uid-" + f[0], Asked: noon, Labels: map[string]string{}}
	for _, w := range f[1:] {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "role", "domain":
			m.Labels[k] = v
		case "asked":
			m.Asked = noon.Add(-span(v))
		case "serving":
			m.Asked = time.Time{}
		case "down":
			m.Down = v
		case "since":
			m.DownSince = noon.Add(-span(v))
		case "priority":
			m.Priority, _ = strconv.Atoi(v)
		case "begun":
			m.Begun = true
		case "held":
			m.Held = v
		case "replacement":
			m.Replacement = drain.Replacement(v)
		case "uid":
			m.UID = ""
		default:
			panic(line)
		}
	}
	return m
}

// TestAdmitHolds plays random fleets: no more are out of service than a limit
// says, but for those that were down before; nobody who is being drained loses a
// slot; nobody is drained before a replacement that is to come first; everybody is
// drained in the end; nobody waits without a reason; and the order of the
// arguments does not matter.
func TestAdmitHolds(t *testing.T) {
	for seed := range uint64(long.N(300, 20_000)) {
		if err := playAdmit(rand.New(rand.NewPCG(seed, 1))); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func playAdmit(r *rand.Rand) error {
	limits := []drain.Limit{limitOf(fmt.Sprintf("all::%d%%", 10+r.IntN(40))), limitOf("masters:master:1"), limitOf(fmt.Sprint("zone:worker:", 1+r.IntN(2), ":domain:", r.IntN(2)))}
	var members []drain.Member
	for i := range 1 + r.IntN(12) {
		m := drain.Member{Name: fmt.Sprint("m", i), UID: fmt.Sprint("u", i), Labels: map[string]string{"role": []string{"master", "worker"}[r.IntN(2)], "domain": []string{"east", "west"}[r.IntN(2)]}}
		if r.IntN(4) > 0 {
			m.Asked, m.Priority = noon.Add(-time.Duration(r.IntN(3))*time.Minute), r.IntN(2)
		}
		if r.IntN(5) == 0 {
			m.Down, m.DownSince = "not ready", noon.Add(-time.Hour)
		}
		if m.Labels["role"] == "worker" && r.IntN(3) == 0 {
			m.Replacement = drain.ReplacementPossible
		}
		members = append(members, m)
	}
	now := noon
	var slots []drain.Slot
	var before []string
	for round := 0; ; round++ {
		asked := 0
		for i := range members {
			if !members[i].Asked.IsZero() {
				asked++
			} else if round > 20 {
				members[i].Down = "" // what is down by itself is repaired in the end
			}
		}
		if asked == 0 {
			return nil
		}
		if round > 200 {
			return fmt.Errorf("they wait forever: %+v", members)
		}
		a, err := drain.Admit(slots, members, limits, now)
		if err != nil {
			return err
		}
		shuffled := slices.Clone(members)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if b, _ := drain.Admit(slots, shuffled, limits, now); fmt.Sprint(a) != fmt.Sprint(b) {
			return fmt.Errorf("the order matters:\n%v\n%v", a, b)
		}
		if len(a.Admitted)+len(a.Waiting) != asked || len(a.Waiting) != len(a.Blocked) {
			return fmt.Errorf("%d are asked, %+v", asked, a)
		}
		for i, w := range a.Waiting {
			if len(w.Slots) == 0 || a.Blocked[i].Message == "" || a.Blocked[i].Subject != "node "+w.Name || slices.Contains(before, w.Name) {
				return fmt.Errorf("%s waits, and was let go before: %v: %+v", w.Name, before, a)
			}
			if told := a.SlotsOf(w.Name); !slices.Equal(told, w.Slots) {
				return fmt.Errorf("%s waits for %v, and is told %v", w.Name, w.Slots, told)
			}
		}
		for _, name := range a.Admitted {
			if told := a.SlotsOf(name); told != nil {
				return fmt.Errorf("%s is admitted, and told to wait for %v", name, told)
			}
		}
		if err := bounded(members, limits, a); err != nil {
			return err
		}
		slots, before = a.Slots, a.Admitted
		for i := range members { // what happens then
			m := &members[i]
			switch {
			case slices.Contains(a.Replace, m.Name):
				m.Replacement = drain.ReplacementComing
			case m.Replacement == drain.ReplacementComing && r.IntN(2) == 0:
				m.Replacement = drain.ReplacementReady
			case !slices.Contains(a.Admitted, m.Name):
			case m.Down != "cordoned":
				m.Down, m.DownSince = "cordoned", now
			case r.IntN(2) == 0:
				m.Asked, m.Down, m.Replacement = time.Time{}, "", ""
				before = slices.DeleteFunc(slices.Clone(before), func(s string) bool { return s == m.Name })
			}
		}
		now = now.Add(time.Minute)
	}
}

// bounded checks the limits by counting again, from what the fleet looks like.
func bounded(members []drain.Member, limits []drain.Limit, a *drain.Admission) error {
	for _, l := range limits {
		counts := map[string]*[4]int{} // in all; going without replacement; down besides; going with one
		for _, m := range members {
			if !l.Selector.Matches(m.Labels) {
				continue
			}
			c := counts[m.Labels[l.Per]]
			if c == nil {
				c = &[4]int{}
				counts[m.Labels[l.Per]] = c
			}
			c[0]++
			surge := l.Surge != (drain.IntOrString{}) && m.Replacement != ""
			holds := slices.ContainsFunc(a.Slots, func(s drain.Slot) bool { return s.UID == m.UID && s.Limit == l.Name })
			switch {
			case holds && surge:
				c[3]++
				if slices.Contains(a.Admitted, m.Name) && m.Replacement != drain.ReplacementReady {
					return fmt.Errorf("%s is drained before its replacement is there", m.Name)
				}
			case holds:
				c[1]++
			case m.Down != "":
				c[2]++
			}
		}
		for domain, c := range counts {
			most, err := l.Max.Scale(c[0], false)
			if err != nil {
				return err
			}
			most = max(most, 1)
			more, _ := l.Surge.Scale(c[0], false)
			if c[1] > most || c[3] > more {
				return fmt.Errorf("limit %s of %s: %v go, %d may; %+v", l.Name, domain, c, most, a)
			}
		}
	}
	return nil
}

// TestAdmitStarvesNobody: members that need several limits are drained although
// younger ones that need fewer keep coming.
func TestAdmitStarvesNobody(t *testing.T) {
	for seed := range uint64(long.N(200, 5_000)) {
		r := rand.New(rand.NewPCG(seed, 2))
		limits := []drain.Limit{limitOf("all::2"), limitOf("masters:master:1")}
		waiting := []drain.Member{memberOf("old role=master asked=1h"), memberOf("x role=master asked=2h"), memberOf("y role=worker asked=2h")}
		slots := []drain.Slot{ // the limits are full when it comes
			{Limit: "all", Holder: "x", UID: "uid-x", Since: noon}, {Limit: "masters", Holder: "x", UID: "uid-x", Since: noon},
			{Limit: "all", Holder: "y", UID: "uid-y", Since: noon},
		}
		for round := 0; ; round++ {
			if round > 30 {
				t.Fatalf("seed %d: it waits forever", seed)
			}
			w := memberOf(fmt.Sprint("w", round, " role=worker"))
			w.Asked = noon.Add(time.Duration(round) * time.Second)
			waiting = append(waiting, w)
			a, err := drain.Admit(slots, waiting, limits, noon.Add(time.Duration(round)*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(a.Admitted, "old") {
				break
			}
			slots = a.Slots
			done := a.Admitted[r.IntN(len(a.Admitted))]
			waiting = slices.DeleteFunc(waiting, func(c drain.Member) bool { return c.Name == done })
		}
	}
}

// TestGate: several processes with views of their own, of which each knows only
// some of the requests at first, hold one limit; slots survive them.
func TestGate(t *testing.T) {
	var store fairlead.MemStore
	limits := []drain.Limit{limitOf("two::2")}
	var members []drain.Member
	for i := range 8 {
		members = append(members, memberOf(fmt.Sprint("n", i)))
	}
	var mu sync.Mutex
	let := map[string]bool{}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			gate, err := drain.NewGate(&store, "slots", limits)
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				a, err := gate.Admit(t.Context(), slices.Concat(members[i:], members[:i]), noon.Add(time.Duration(i)*time.Second))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, name := range a.Admitted {
					let[name] = true
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(let) != 2 || !let["n0"] || !let["n1"] {
		t.Errorf("%v were let go", let)
	}
	gate, err := drain.NewGate(&store, "slots", limits)
	if err != nil {
		t.Fatal(err)
	}
	a, err := gate.Admit(t.Context(), append(members[1:], memberOf("first asked=1h priority=9")), noon)
	if err != nil || fmt.Sprint(a.Admitted) != "[first n1]" {
		t.Errorf("%v, %v", a, err)
	}
	if record, err := store.Get(t.Context(), "slots"); err != nil || !strings.Contains(string(record.Value), `"version":1`) {
		t.Errorf("%s, %v", record.Value, err)
	}
	if _, err := drain.NewGate(&store, "no key", limits); err == nil {
		t.Error("a key that a store refuses is taken")
	}
	if _, err := drain.NewGate(&store, "slots", []drain.Limit{{}}); err == nil {
		t.Error("a limit without a name is taken")
	}
}

// TestMemberOf: what requests and node say of a node as limits count it.
func TestMemberOf(t *testing.T) {
	n := &drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n", UID: "u", Labels: map[string]string{"pool": "a"}}}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: noon}}
	request := func(edit func(*drain.Request)) drain.Request {
		r := drain.Request{Name: "r", UID: "r", Requester: "kured", Asked: noon}
		edit(&r)
		return r
	}
	for _, c := range []struct {
		name     string
		cordoned bool
		ready    fairlead.ConditionStatus
		requests []drain.Request
		want     string
	}{
		{"nobody asks", false, "True", nil, "asked=false down= priority=0 begun=false held="},
		{"silent", false, "Unknown", nil, "asked=false down=not ready priority=0 begun=false held="},
		{"cordoned by somebody", true, "True", nil, "asked=false down=cordoned priority=0 begun=false held="},
		{"asked", false, "True", []drain.Request{request(func(r *drain.Request) { r.Priority = -2 }), request(func(r *drain.Request) { r.Priority = -1 })}, "asked=true down= priority=-1 begun=false held="},
		{"no time", false, "True", []drain.Request{request(func(r *drain.Request) { r.Asked = time.Time{} })}, "asked=true down= priority=0 begun=false held="},
		{"paused before it began", false, "True", []drain.Request{request(func(r *drain.Request) { r.Paused = true })}, "asked=false down= priority=0 begun=false held="},
		{"paused", true, "True", []drain.Request{request(func(r *drain.Request) { r.Paused = true })}, "asked=true down=cordoned priority=0 begun=false held=request r of kured is paused"},
		{"begun", true, "True", []drain.Request{request(func(r *drain.Request) { r.Status.Phase = drain.PhaseDrained })}, "asked=true down=cordoned priority=0 begun=true held="},
		{"over", false, "True", []drain.Request{request(func(r *drain.Request) { r.Status.Phase = drain.PhaseOver })}, "asked=false down= priority=0 begun=false held="},
		{"cancelled", false, "True", []drain.Request{request(func(r *drain.Request) { r.Cancelled = true })}, "asked=false down= priority=0 begun=false held="},
		{"expired", false, "True", []drain.Request{request(func(r *drain.Request) { r.Until = noon })}, "asked=false down= priority=0 begun=false held="},
		{"of another node", false, "True", []drain.Request{request(func(r *drain.Request) { r.NodeUID = "old" })}, "asked=false down= priority=0 begun=false held="},
	} {
		o := *n
		o.Spec.Unschedulable = c.cordoned
		o.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: c.ready, LastTransitionTime: noon}}
		w := &drain.World{Name: "n", Requests: c.requests}
		w.Node = &o
		m, ok := drain.MemberOf(w, noon)
		if got := fmt.Sprintf("asked=%v down=%s priority=%d begun=%v held=%s", !m.Asked.IsZero(), m.Down, m.Priority, m.Begun, m.Held); !ok || got != c.want || m.UID != "u" || m.Labels["pool"] != "a" {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if _, ok := drain.MemberOf(&drain.World{Name: "n"}, noon); ok {
		t.Error("a node that is not there is counted")
	}
}
