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

// Options configures a Member.
type Options struct {
	// Client reads and writes Leases, without a cache. It needs the verbs list,
	// create, update and delete on leases of the namespace.
	Client client.Client
	// Namespace is the namespace of the Leases.
	Namespace string
	// Name is the name of the group. Its Leases are NAME, NAME-shard-NUMBER
	// and NAME-member-IDENTITY. Empty means fairlead.
	Name string
	// Shards is the number of shards: 1 to 1,000, the same for all members. Four
	// times as many as members is a good choice.
	Shards int
	// Identity must differ between members, and between two starts of one. Empty
	// means a random one.
	Identity string
	// Duration is how long the Leases of a member last without renewal; then its
	// shards are taken over. Zero means a minute; it is rounded up to whole
	// seconds.
	Duration time.Duration
	// Skew is by how much the clocks of two members may diverge within Duration;
	// all members keep this distance to the end of a lease. Zero means a tenth of
	// Duration.
	Skew time.Duration
	// Retry is how often the Leases are listed. Zero means a twelfth of
	// Duration.
	Retry time.Duration
	// Lost is called when this member has lost shards, with a function that says
	// whether an object, by its name, is still its own; see [kube.Metrics.Keep]. It may
	// be nil.
	Lost func(mine func(name string) bool)
	// Clock is the clock. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
}

// maxShards limits the number of Leases that a mistyped flag can create.
const maxShards = 1000

// Member is one process of a group. Add it to a manager: it runs while that does.
// Its methods may be called from several goroutines.
type Member struct {
	Options
	leases leases

	mu    sync.Mutex
	group time.Time     // the time limit of the group's Lease counts from here
	terms map[int]*term // by shard: held, or being released

	subscriptions subscriptions
}

// term is the term of a held shard.
type term struct {
	from    time.Time // when the last successful renewal was requested
	version string    // resourceVersion of the Lease
	ctx     context.Context
	cancel  context.CancelCauseFunc
	passes  int  // under way
	closing bool // no more passes: it is being released
	told    bool // the controllers have received all objects since it began
	caches  map[*store]*kube.Cached
}

// New returns a member that holds no shards yet. The error reports invalid
// options.
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
		return nil, fmt.Errorf("kube/shard: no Client: give it one without a cache, such as that of kube.Direct")
	case o.Shards < 1 || o.Shards > maxShards:
		return nil, fmt.Errorf("kube/shard: %d shards: must be 1 to %d; four times as many as members is a good choice", o.Shards, maxShards)
	case o.Duration <= 0 || o.Skew < 0 || o.Retry <= 0 || o.Duration/3+o.Retry+o.Skew >= o.Duration:
		return nil, fmt.Errorf("kube/shard: Duration %v, Skew %v, Retry %v: the sum of a third of Duration, Retry and Skew must be less than Duration; otherwise leases end before they are renewed", o.Duration, o.Skew, o.Retry)
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

// Shard returns the number of the shard to which the object with the name
// belongs.
func (m *Member) Shard(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % uint32(m.Shards))
}

// Held returns the shards that this member holds, in order.
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

// may reports whether a pass may begin in a term. The lock must be held.
func (m *Member) may(t *term) bool {
	return !t.closing && m.left(t) > 0
}

// left returns how long a term is certain to last. The lock must be held.
func (m *Member) left(t *term) time.Duration {
	now := m.Clock.Now()
	return m.Duration - m.Skew - max(longest(t.from, now), longest(m.group, now))
}

// longest returns the time from then to now by the monotonic clock or by the wall
// clock, whichever is longer: the former stands still while a machine sleeps.
func longest(then, now time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0)))
}

type passKey struct{}

// pass is the value in the context of a pass, for the store.
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

// NeedLeaderElection returns false: a member runs no matter which process
// leads.
func (*Member) NeedLeaderElection() bool { return false }

// Start holds shards until ctx ends. Then it waits for the passes under way, and
// releases all shards. It returns nil.
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
			if lost := slices.ContainsFunc(before, func(s int) bool { return !slices.Contains(now, s) }); lost && m.Lost != nil {
				m.Lost(func(name string) bool { return slices.Contains(now, m.Shard(name)) })
			}
			before = now
		}
		_ = fairlead.SleepUntil(ctx, m.Clock, m.Clock.Now().Add(m.Retry))
	}
	if err := m.leave(context.WithoutCancel(ctx)); err != nil {
		log.Error(err, "leases that are not released will expire")
	}
	return nil
}

// watch ends terms in time, even if the server does not answer.
func (m *Member) watch(ctx context.Context) {
	for ctx.Err() == nil {
		next := m.expire()
		_ = fairlead.SleepUntil(ctx, m.Clock, m.Clock.Now().Add(next))
	}
}

// expire ends the terms that are over, and returns when to call it again.
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

// lose ends a term and its passes. The lock must be held.
func (m *Member) lose(shard int) {
	m.terms[shard].cancel(kube.NotOwnerError{})
	delete(m.terms, shard)
}

// leave releases all shards, each when its passes have ended, and deletes the
// member's Lease.
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
