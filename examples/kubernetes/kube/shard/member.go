package shard

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options say what is shared, and with whom.
type Options struct {
	// Client reads and writes Leases, without a cache. It needs the verbs list,
	// create, update and delete on leases of the namespace.
	Client client.Client
	// Namespace is that of the Leases.
	Namespace string
	// Name is the group's. Its Leases are NAME, NAME-shard-NUMBER and
	// NAME-member-IDENTITY. Empty means fairlead.
	Name string
	// Shards is how many there are: 1 to 1,000, the same for all members. Four times
	// as many as members is a good choice.
	Shards int
	// Identity differs between members, and between two starts of one. Empty means
	// a random one.
	Identity string
	// Duration is after how long without a sign of a member its shards are taken
	// over. Zero means a minute; it is rounded up to whole seconds.
	Duration time.Duration
	// Skew is by how much the clocks of two members may differ within Duration; all
	// of them keep this distance to the end of a lease. Zero means a tenth of it.
	Skew time.Duration
	// Retry is the time between two looks at the Leases. Zero means a twelfth of
	// Duration.
	Retry time.Duration
	// Clock tells the time. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
}

// maxShards bounds the Leases that a mistyped flag may make.
const maxShards = 1000

// Member is one process of a group. Add it to a manager: it runs while that does.
// Its methods may be called from several goroutines.
type Member struct {
	Options
	leases leases

	mu    sync.Mutex
	group time.Time     // until when the group is known to be ours counts from here
	terms map[int]*term // by shard: what is held, or given back

	subscriptions subscriptions
}

// term is a shard that is held.
type term struct {
	from    time.Time // when the last renewal that succeeded was asked for
	version string    // resourceVersion of the Lease
	ctx     context.Context
	cancel  context.CancelCauseFunc
	passes  int  // under way
	closing bool // no more passes: it is given back
	told    bool // the controllers were told of all objects since it began
	caches  map[*store]*kube.Cached
}

// New returns a member that holds nothing yet. The error says what is wrong with
// the options.
func New(o Options) (*Member, error) {
	o.Name = cmp.Or(o.Name, "fairlead")
	o.Identity = cmp.Or(o.Identity, strings.ToLower(rand.Text()))
	o.Duration = cmp.Or(o.Duration, time.Minute)
	o.Duration = (o.Duration + time.Second - 1).Truncate(time.Second)
	o.Skew = cmp.Or(o.Skew, o.Duration/10)
	o.Retry = cmp.Or(o.Retry, o.Duration/12)
	if o.Clock == nil {
		o.Clock = fairlead.SystemClock{}
	}
	switch {
	case o.Client == nil:
		return nil, fmt.Errorf("kube/shard: no Client: give it one without a cache, as kube.Direct makes it")
	case o.Shards < 1 || o.Shards > maxShards:
		return nil, fmt.Errorf("kube/shard: %d shards: must be 1 to %d; four times as many as members is a good choice", o.Shards, maxShards)
	case o.Duration <= 0 || o.Skew < 0 || o.Retry <= 0 || o.Duration/3+o.Retry+o.Skew >= o.Duration:
		return nil, fmt.Errorf("kube/shard: Duration %v, Skew %v, Retry %v: a third of Duration, Retry and Skew must take less than Duration together, or leases end before they are renewed", o.Duration, o.Skew, o.Retry)
	}
	for _, name := range []string{o.Namespace, o.Name, o.Identity} {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return nil, fmt.Errorf("kube/shard: %q in the name of a Lease: %s", name, strings.Join(problems, "; "))
		}
	}
	m := &Member{Options: o, terms: map[int]*term{}}
	m.leases = leases{m: m, seen: map[string]sight{}}
	return m, nil
}

// Shard is the number of the shard that an object of this name belongs to.
func (m *Member) Shard(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % uint32(m.Shards))
}

// Held are the shards whose objects are this member's, in order.
func (m *Member) Held() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []int
	for shard, t := range m.terms {
		if m.may(t) {
			out = append(out, shard)
		}
	}
	slices.Sort(out)
	return out
}

// may reports whether a pass may begin in a term. It is called with the lock.
func (m *Member) may(t *term) bool {
	return !t.closing && m.left(t) > 0
}

// left is for how long a term surely lasts. It is called with the lock.
func (m *Member) left(t *term) time.Duration {
	now := m.Clock.Now()
	return m.Duration - m.Skew - max(longest(t.from, now), longest(m.group, now))
}

// longest is the time from then to now by the clock that only runs or by the one
// that is set, whichever says more: the first stands still while a machine sleeps.
func longest(then, now time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0)))
}

type passKey struct{}

// pass is what the context of a pass tells the store.
type pass struct {
	term *term
	name string
}

// Begin implements [kube.Owner].
func (m *Member) Begin(ctx context.Context, name string) (held context.Context, done func(), mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.terms[m.Shard(name)]
	if t == nil || !m.may(t) {
		return nil, nil, false
	}
	t.passes++
	held, cancel := context.WithCancelCause(context.WithValue(ctx, passKey{}, pass{t, name}))
	stop := context.AfterFunc(t.ctx, func() { cancel(kube.NotOwnerError{}) })
	return held, func() {
		stop()
		cancel(nil)
		m.mu.Lock()
		t.passes--
		m.mu.Unlock()
	}, true
}

// NeedLeaderElection tells a manager that a member runs whoever leads.
func (*Member) NeedLeaderElection() bool { return false }

// Start holds shards until ctx ends. Then it waits for the passes under way, and
// gives all back. It returns nil.
func (m *Member) Start(ctx context.Context) error {
	watch, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go m.watch(watch)
	log := ctrl.LoggerFrom(ctx).WithName("shards").WithValues("identity", m.Identity)
	var before []int
	for ctx.Err() == nil {
		if err := m.leases.round(ctx); err != nil && ctx.Err() == nil {
			log.Error(err, "leases")
		}
		m.subscriptions.tidy()
		if now := m.Held(); !slices.Equal(now, before) {
			log.Info("shards held", "shards", now, "of", m.Shards)
			before = now
		}
		_ = fairlead.SleepUntil(ctx, m.Clock, m.Clock.Now().Add(m.Retry))
	}
	if err := m.leave(context.WithoutCancel(ctx)); err != nil {
		log.Error(err, "leases that are not given back run out")
	}
	return nil
}

// watch ends terms in time, whatever the server does.
func (m *Member) watch(ctx context.Context) {
	for ctx.Err() == nil {
		next := m.expire()
		_ = fairlead.SleepUntil(ctx, m.Clock, m.Clock.Now().Add(next))
	}
}

// expire ends the terms that are over, and returns when to look again.
func (m *Member) expire() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.Retry
	for shard, t := range m.terms {
		if left := m.left(t); left <= 0 {
			m.lose(shard)
		} else {
			next = min(next, left)
		}
	}
	return next
}

// lose ends a term and the passes in it. It is called with the lock.
func (m *Member) lose(shard int) {
	m.terms[shard].cancel(kube.NotOwnerError{})
	delete(m.terms, shard)
}

// leave gives all shards back, each when its passes have ended, and says that the
// member is gone.
func (m *Member) leave(ctx context.Context) error {
	var errs []error
	for {
		m.mu.Lock()
		for _, t := range m.terms {
			t.closing = true
		}
		m.mu.Unlock()
		m.expire()
		errs = append(errs, m.leases.giveBack(ctx))
		m.mu.Lock()
		held := len(m.terms)
		m.mu.Unlock()
		if held == 0 {
			return errors.Join(append(errs, m.leases.remove(ctx))...)
		}
		_ = fairlead.SleepUntil(ctx, m.Clock, m.Clock.Now().Add(m.Retry/10))
	}
}
