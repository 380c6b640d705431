package shard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/internal/long"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// group is a server and processes with inaccurate clocks, in simulated time.
type group struct {
	*testing.T
	leases  map[string]*coordinationv1.Lease
	version int
	random  *rand.Rand
	time    time.Duration // since the beginning
	slow    bool          // whether requests take time and fail
	members map[string]*process
	starts  int
}

// process is a member and its faults.
type process struct {
	*Member
	clock   fairlead.ManualClock
	begin   time.Time
	rate    float64 // the rate of its clock
	cut     bool    // cut off from the server
	stalled bool    // neither its rounds nor its watch run
	told    map[*term]bool
}

// controller records the terms during which it received all objects.
type controller struct {
	cache.Informer
	*process
}

func (c *controller) AddEventHandlerWithOptions(toolscache.ResourceEventHandler, toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	for _, t := range c.terms {
		c.told[t] = true
	}
	return nil, nil
}

const duration, skew, retry = 15 * time.Second, 3 * time.Second, 2 * time.Second

func newGroup(t *testing.T, seed uint64) *group {
	return &group{T: t, leases: map[string]*coordinationv1.Lease{}, random: rand.New(rand.NewPCG(seed, 0)), members: map[string]*process{}}
}

// start adds a member. Its clock shows an arbitrary time, and runs too fast or
// too slowly.
func (g *group) start(shards int) *process {
	g.Helper()
	g.starts++
	p := &process{told: map[*term]bool{}, begin: time.Unix(g.random.Int64N(1e9), 0), rate: 0.95 + g.random.Float64()/10}
	p.clock.Set(p.begin.Add(time.Duration(float64(g.time) * p.rate)))
	name := fmt.Sprintf("m%d", g.starts)
	m, err := New(Options{Client: &wire{nil, g, p}, Namespace: "n", Shards: shards, Identity: name, Duration: duration, Skew: skew, Retry: retry, Clock: &p.clock})
	if err != nil {
		g.Fatal(err)
	}
	p.Member = m
	m.subscriptions.all = append(m.subscriptions.all, subscription{informer: &controller{nil, p}})
	g.members[name] = p
	return p
}

// wire connects a process to the server. It implements only the requests that
// members make.
type wire struct {
	client.Client
	g *group
	p *process
}

// call makes a request, which may fail before or after it is carried out.
func (w *wire) call(request func() error) error {
	g := w.g
	g.check()
	if w.p.cut {
		return errors.New("no way to the server")
	}
	if !g.slow {
		return request()
	}
	g.pass(time.Duration(g.random.Int64N(int64(2 * time.Second))))
	if g.random.IntN(20) == 0 {
		return errors.New("the request is lost")
	}
	err := request()
	g.check()
	g.pass(time.Duration(g.random.Int64N(int64(2 * time.Second))))
	if g.random.IntN(20) == 0 {
		return errors.New("the answer is lost")
	}
	return err
}

func (w *wire) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	return w.call(func() error {
		for _, name := range slices.Sorted(maps.Keys(w.g.leases)) {
			l := list.(*coordinationv1.LeaseList)
			l.Items = append(l.Items, *w.g.leases[name].DeepCopy())
		}
		return nil
	})
}

var kind = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (w *wire) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	return w.call(func() error {
		if w.g.leases[o.GetName()] != nil {
			return apierrors.NewAlreadyExists(kind, o.GetName())
		}
		w.g.put(o.(*coordinationv1.Lease))
		return nil
	})
}

func (w *wire) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	return w.call(func() error {
		if err := w.g.expect(o.GetName(), o.GetResourceVersion()); err != nil {
			return err
		}
		w.g.put(o.(*coordinationv1.Lease))
		return nil
	})
}

func (w *wire) Delete(_ context.Context, o client.Object, opts ...client.DeleteOption) error {
	return w.call(func() error {
		var all client.DeleteOptions
		all.ApplyOptions(opts)
		if p := all.Preconditions; p != nil {
			if err := w.g.expect(o.GetName(), *p.ResourceVersion); err != nil {
				return err
			}
		}
		delete(w.g.leases, o.GetName())
		return nil
	})
}

// expect returns the answer to a write of a Lease at a version.
func (g *group) expect(name, version string) error {
	switch at := g.leases[name]; {
	case at == nil:
		return apierrors.NewNotFound(kind, name)
	case at.ResourceVersion != version:
		return apierrors.NewConflict(kind, name, errors.New("it has changed"))
	}
	return nil
}

func (g *group) put(l *coordinationv1.Lease) {
	g.version++
	l.ResourceVersion = fmt.Sprint(g.version)
	g.leases[l.Name] = l.DeepCopy()
}

// pass lets time pass.
func (g *group) pass(d time.Duration) {
	g.time += d
	for _, p := range g.members {
		p.clock.Set(p.begin.Add(time.Duration(float64(g.time) * p.rate)))
	}
}

// owners returns the members that may make a pass over an object now.
func (g *group) owners(name string) []string {
	var all []string
	for id, p := range g.members {
		if _, done, mine := p.Begin(context.Background(), name); mine {
			all = append(all, id)
			done()
		}
	}
	return all
}

var objects = strings.Fields("a b c d e f g h i j k l m n o p q r s t")

// check verifies what must hold at any time.
func (g *group) check() {
	g.Helper()
	for _, name := range objects {
		if all := g.owners(name); len(all) > 1 {
			g.Fatalf("after %v: %s belongs to %v", g.time, name, all)
		}
	}
}

func (g *group) any() *process {
	names := slices.Sorted(maps.Keys(g.members))
	return g.members[names[g.random.IntN(len(names))]]
}

// step makes something happen.
func (g *group) step(shards int) {
	switch p, what := g.any(), g.random.IntN(100); {
	case what < 2 && len(g.members) < 6:
		g.start(shards)
	case what < 4 && len(g.members) > 1:
		delete(g.members, p.Identity) // killed
	case what < 6 && len(g.members) > 1:
		if err := p.leave(g.Context()); err != nil && !g.slow && !p.cut {
			g.Error(err)
		}
		delete(g.members, p.Identity)
	case what < 9:
		p.cut = !p.cut
	case what < 12:
		p.stalled = !p.stalled
	case what < 40:
		g.pass(time.Duration(g.random.Int64N(int64(4 * time.Second))))
	case !p.stalled:
		g.round(p)
	}
	g.check()
}

// round makes one round of a member. For each shard that it has taken over, its
// controllers must have received all objects since.
func (g *group) round(p *process) {
	g.Helper()
	_ = p.leases.round(g.Context())
	for shard, t := range p.terms {
		if !p.told[t] {
			g.Fatalf("%s: shard %d was taken over, but the controllers did not receive its objects", p.Identity, shard)
		}
	}
	p.expire()
}

// settle lets all members work without faults, until the shards are shared
// evenly.
func (g *group) settle(shards int) {
	g.Helper()
	g.slow = false
	for _, p := range g.members {
		p.cut, p.stalled = false, false
	}
	for range 40 {
		for _, name := range slices.Sorted(maps.Keys(g.members)) {
			g.round(g.members[name])
			g.check()
		}
		g.pass(retry)
	}
	var counts []int
	total := 0
	for _, p := range g.members {
		counts = append(counts, len(p.Held()))
		total += len(p.Held())
	}
	if total != shards || slices.Max(counts)-slices.Min(counts) > 1 {
		g.Fatalf("%d shards are held as %v", shards, counts)
	}
}

// No object ever belongs to two members, whatever happens to them and whatever
// their clocks show; and once nothing happens, the shards are shared evenly.
func TestMembers(t *testing.T) {
	for seed := range uint64(long.N(15, 3000)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := newGroup(t, seed)
			g.slow = seed%3 > 0
			shards := 1 + g.random.IntN(12)
			g.start(shards)
			for i := range 250 {
				if i == 150 && seed%4 == 0 { // the next version has more of them
					shards *= 2
				}
				g.step(shards)
			}
			for name, p := range g.members {
				if p.Shards != shards {
					delete(g.members, name)
				}
			}
			if len(g.members) == 0 {
				g.start(shards)
			}
			g.settle(shards)
		})
	}
}

// A shard is taken over when the lease of a member that is gone and the skew are
// over, and at once if it was released.
func TestTakeOver(t *testing.T) {
	for _, given := range []bool{true, false} {
		g := newGroup(t, 1)
		first := g.start(3)
		first.rate = 1
		g.settle(3)
		second := g.start(3)
		second.rate = 1
		if given {
			if err := first.leave(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		delete(g.members, first.Identity)
		begin := g.time
		for len(second.Held()) < 3 {
			if err := second.leases.round(t.Context()); err != nil {
				t.Fatal(err)
			}
			g.pass(time.Second)
			if g.time-begin > time.Hour {
				t.Fatal("never taken over")
			}
		}
		took := g.time - begin
		if given && took > 3*time.Second || !given && (took <= duration+skew || took > duration+skew+4*time.Second) {
			t.Errorf("released %v: taken over after %v", given, took)
		}
	}
}

// A pass is canceled when its shard is lost, and a shard is not released before
// its passes have ended.
func TestPasses(t *testing.T) {
	g := newGroup(t, 1)
	p := g.start(1)
	g.settle(1)
	held, done, mine := p.Begin(t.Context(), "a")
	if !mine {
		t.Fatal("it is the only member")
	}
	second := g.start(1)
	left := make(chan error)
	go func() { left <- p.leave(t.Context()) }()
	for len(p.Held()) > 0 {
		time.Sleep(time.Millisecond)
	}
	for range 3 {
		_ = second.leases.round(t.Context())
	}
	if len(second.Held()) != 0 || held.Err() != nil {
		t.Fatalf("released while a pass is under way: %v, %v", second.Held(), held.Err())
	}
	done()
	for stop := false; !stop; {
		g.pass(retry) // wakes it up
		select {
		case err := <-left:
			if err != nil {
				t.Fatal(err)
			}
			stop = true
		case <-time.After(time.Millisecond):
		}
	}
	_ = second.leases.round(t.Context())
	if !slices.Equal(second.Held(), []int{0}) {
		t.Fatal("not taken over at once")
	}

	held, done, _ = second.Begin(t.Context(), "a")
	defer done()
	g.pass(duration - skew - retry)
	if second.expire(); held.Err() != nil {
		t.Fatal("canceled before the lease ends")
	}
	g.pass(2 * retry)
	second.expire()
	<-held.Done()
	if !errors.Is(context.Cause(held), kube.NotOwnerError{}) {
		t.Error(context.Cause(held))
	}
}

// While a single leader or a group with another number of shards holds the
// Lease, no shard is held.
func TestAnotherWay(t *testing.T) {
	g := newGroup(t, 1)
	leader, seconds := "pod-1", int32(30)
	lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &leader, LeaseDurationSeconds: &seconds}}
	lease.Name = "fairlead"
	g.put(lease)
	p := g.start(2)
	p.rate = 1
	var err error
	for len(p.Held()) == 0 {
		err = errors.Join(err, p.leases.round(t.Context()))
		g.pass(time.Second)
	}
	if g.time <= 33*time.Second || g.time > 38*time.Second {
		t.Errorf("held after %v, want after 33s", g.time)
	}
	if want := "lease n/fairlead is held by pod-1: this member waits until that has expired"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}

	// A leader that takes the Lease by force ends this, although the leases of
	// shards are renewed.
	lease.Spec.HolderIdentity = &leader
	g.put(lease)
	for range 13 {
		_ = p.leases.round(t.Context())
		g.pass(time.Second)
	}
	if held := p.Held(); len(held) > 0 {
		t.Errorf("shards %v are held although another leads", held)
	}
}

// Only the state of the pass's own object is remembered.
func TestStore(t *testing.T) {
	g := newGroup(t, 1)
	p := g.start(1)
	g.settle(1)
	below := new(fairlead.MemStore)
	s := p.Store(below)
	held, done, _ := p.Begin(t.Context(), "shop/a.b")
	defer done()
	own, other := fairlead.StateKey("drain", "shop/a.b"), fairlead.StateKey("drain", "b")
	for _, key := range []string{own, other, "slots"} {
		at, err := s.Put(held, key, []byte("1"), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := below.Put(t.Context(), key, []byte("2"), at); err != nil {
			t.Fatal(err)
		}
		want := "2"
		if key == own {
			want = "1"
		}
		if r, err := s.Get(held, key); err != nil || string(r.Value) != want {
			t.Errorf("%s: %q, %v", key, r.Value, err)
		}
		if r, err := s.Get(t.Context(), key); err != nil || string(r.Value) != "2" {
			t.Errorf("%s in no pass: %q, %v", key, r.Value, err)
		}
	}
}

func TestOptions(t *testing.T) {
	c := &wire{}
	for want, o := range map[string]Options{
		"no Client":               {Namespace: "n", Shards: 1},
		"0 shards":                {Client: c, Namespace: "n"},
		"1001 shards":             {Client: c, Namespace: "n", Shards: 1001},
		"less than Duration":      {Client: c, Namespace: "n", Shards: 1, Duration: 3 * time.Second, Retry: 2 * time.Second},
		`"" in the name`:          {Client: c, Shards: 1},
		`"A" in the name`:         {Client: c, Namespace: "n", Shards: 1, Identity: "A"},
		"Skew -1s, Retry":         {Client: c, Namespace: "n", Shards: 1, Skew: -time.Second},
		"Duration -3s, Skew -300": {Client: c, Namespace: "n", Shards: 1, Duration: -4 * time.Second},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
