package shard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leases makes a member's requests to the server. Only one goroutine uses it.
type leases struct {
	m     *Member
	seen  map[string]sight // by name
	asked time.Time        // when the last list was requested
	own   time.Time        // when the member's own Lease was last written
}

// sight is the time interval in which a Lease was written, as far as is known:
// after the previous list was requested, and before the list that showed the change
// was answered.
type sight struct {
	version       string
	after, before time.Time
}

// round lists all Leases, renews the held ones, releases those in excess, and
// takes free ones.
func (l *leases) round(ctx context.Context) error {
	asked := l.m.Clock.Now()
	var list coordinationv1.LeaseList
	if err := l.do(ctx, func(ctx context.Context) error {
		return l.m.Client.List(ctx, &list, client.InNamespace(l.m.Namespace))
	}); err != nil {
		return fmt.Errorf("list leases: %w", err)
	}
	found := l.note(list.Items, asked)
	errs := []error{l.holdGroup(ctx, found[l.m.Name])}
	own := found[l.memberName()]
	if l.due(l.own) {
		errs = append(errs, l.sign(ctx, own))
	}
	l.compare(found)
	errs = append(errs, l.renew(ctx))
	if own != nil { // otherwise others do not know yet that they must release some
		errs = append(errs, l.balance(ctx, found))
	}
	errs = append(errs, l.giveBack(ctx))
	l.tell()
	return errors.Join(errs...)
}

// tell makes the controllers receive all objects again, if a term has begun
// since: they have dropped earlier events for objects of other members.
func (l *leases) tell() {
	news := false
	l.m.mu.Lock()
	for _, t := range l.m.terms {
		news, t.told = news || !t.told, true
	}
	l.m.mu.Unlock()
	if news {
		l.m.subscriptions.replay()
	}
}

// do makes a request, limited to the time that a lease can wait.
func (l *leases) do(ctx context.Context, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.m.Duration/4)
	defer cancel()
	return request(ctx)
}

// note remembers when Leases have changed, and returns them by name.
func (l *leases) note(items []coordinationv1.Lease, asked time.Time) map[string]*coordinationv1.Lease {
	now := l.m.Clock.Now()
	found := map[string]*coordinationv1.Lease{}
	next := map[string]sight{}
	for i := range items {
		lease := &items[i]
		found[lease.Name] = lease
		s, known := l.seen[lease.Name]
		if !known || s.version != lease.ResourceVersion {
			s = sight{version: lease.ResourceVersion, before: now}
			if known {
				s.after = l.asked
			}
		}
		next[lease.Name] = s
	}
	l.seen, l.asked = next, asked
	return found
}

// over reports whether a Lease has expired, or has no holder.
func (l *leases) over(lease *coordinationv1.Lease) bool {
	if holder(lease) == "" {
		return true
	}
	duration := l.m.Duration
	if s := lease.Spec.LeaseDurationSeconds; s != nil {
		duration = time.Duration(*s) * time.Second
	}
	since, now := l.seen[lease.Name].before, l.m.Clock.Now()
	return min(now.Sub(since), now.Round(0).Sub(since.Round(0))) > duration+l.m.Skew
}

// due reports whether a Lease that was written at a time must be renewed.
func (l *leases) due(written time.Time) bool {
	return longest(written, l.m.Clock.Now()) >= l.m.Duration/3
}

// holdGroup holds the Lease with the number of shards.
func (l *leases) holdGroup(ctx context.Context, lease *coordinationv1.Lease) error {
	m := l.m
	us := fmt.Sprintf("%d-shards", m.Shards)
	ours := holder(lease) == us
	if ours {
		if after := l.seen[m.Name].after; after.After(m.group) {
			m.mu.Lock()
			m.group = after // another member has renewed it
			m.mu.Unlock()
		}
	} else if !l.over(lease) {
		return fmt.Errorf("lease %s/%s is held by %s: this member waits until that has expired, because it may reconcile the same objects (this member uses %s)", m.Namespace, m.Name, holder(lease), us)
	}
	if ours && !l.due(m.group) {
		return nil
	}
	asked := m.Clock.Now()
	_, err := l.write(ctx, lease, m.Name, us)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil // another member was faster; the next list shows it
	}
	if err == nil {
		m.mu.Lock()
		m.group = asked
		m.mu.Unlock()
	}
	return err
}

func (l *leases) memberName() string { return l.m.Name + "-member-" + l.m.Identity }

func (l *leases) shardName(shard int) string { return fmt.Sprintf("%s-shard-%d", l.m.Name, shard) }

// sign writes the Lease that shows the member is alive.
func (l *leases) sign(ctx context.Context, lease *coordinationv1.Lease) error {
	asked := l.m.Clock.Now()
	_, err := l.write(ctx, lease, l.memberName(), l.m.Identity)
	if err == nil {
		l.own = asked
	}
	return err
}

// remove deletes the Lease of the member.
func (l *leases) remove(ctx context.Context) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.m.Namespace, Name: l.memberName()}}
	return client.IgnoreNotFound(l.do(ctx, func(ctx context.Context) error { return l.m.Client.Delete(ctx, lease) }))
}

// write renews or acquires a Lease, provided that nothing else has written it
// since. If lease is nil, it creates one. An empty holder releases it.
func (l *leases) write(ctx context.Context, lease *coordinationv1.Lease, name, by string) (version string, err error) {
	now := metav1.NewMicroTime(l.m.Clock.Now())
	seconds := int32(l.m.Duration / time.Second)
	next := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.m.Namespace, Name: name}}
	if lease != nil {
		next = lease.DeepCopy()
	}
	if holder(lease) != by {
		next.Spec.AcquireTime = &now
	}
	next.Spec.HolderIdentity, next.Spec.LeaseDurationSeconds, next.Spec.RenewTime = &by, &seconds, &now
	err = l.do(ctx, func(ctx context.Context) error {
		if lease == nil {
			return l.m.Client.Create(ctx, next)
		}
		return l.m.Client.Update(ctx, next)
	})
	if err != nil {
		return "", fmt.Errorf("lease %s/%s: %w", l.m.Namespace, name, err)
	}
	return next.ResourceVersion, nil
}

// compare ends the terms whose Leases belong to others by now. It takes over the
// versions of the server, because an answer to this member's own write may have
// been lost.
func (l *leases) compare(found map[string]*coordinationv1.Lease) {
	m := l.m
	m.mu.Lock()
	defer m.mu.Unlock()
	for shard, t := range m.terms {
		if lease := found[l.shardName(shard)]; holder(lease) == m.Identity {
			t.version = lease.ResourceVersion
		} else {
			m.lose(shard)
		}
	}
}

// holder returns the holder of a Lease; "" if there is none.
func holder(lease *coordinationv1.Lease) string {
	if lease == nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// terms returns the terms that meet a condition, by shard.
func (l *leases) terms(which func(*term) bool) map[int]term {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	out := map[int]term{}
	for shard, t := range l.m.terms {
		if which(t) {
			out[shard] = *t
		}
	}
	return out
}

// at returns the Lease of a shard as this member has written it.
func (l *leases) at(shard int, t *term) *coordinationv1.Lease {
	identity := l.m.Identity
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.m.Namespace, Name: l.shardName(shard), ResourceVersion: t.version},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &identity},
	}
}

// renew writes the Leases of held shards, if that is due.
func (l *leases) renew(ctx context.Context) error {
	var errs []error
	for shard, t := range l.terms(func(t *term) bool { return !t.closing && l.due(t.from) }) {
		errs = append(errs, l.take(ctx, shard, l.at(shard, &t)))
	}
	return errors.Join(errs...)
}

// take acquires a shard for this member, or renews it.
func (l *leases) take(ctx context.Context, shard int, lease *coordinationv1.Lease) error {
	m := l.m
	asked := m.Clock.Now()
	version, err := l.write(ctx, lease, l.shardName(shard), m.Identity)
	if err != nil {
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			return nil // the next list shows its holder
		}
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.terms[shard]; t != nil {
		t.from, t.version = asked, version
		return nil
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	m.terms[shard] = &term{from: asked, version: version, ctx: ctx, cancel: cancel, caches: map[*store]*kube.Cached{}}
	return nil
}

// giveBack releases shards that are closing, if no pass is under way.
func (l *leases) giveBack(ctx context.Context) error {
	var errs []error
	for shard, t := range l.terms(func(t *term) bool { return t.closing && t.passes == 0 }) {
		if _, err := l.write(ctx, l.at(shard, &t), l.shardName(shard), ""); err != nil {
			errs = append(errs, err)
		}
		l.m.mu.Lock()
		if l.m.terms[shard] != nil {
			l.m.lose(shard) // even after an error: then it expires
		}
		l.m.mu.Unlock()
	}
	return errors.Join(errs...)
}

// balance closes shards in excess of the member's share, or takes free ones.
func (l *leases) balance(ctx context.Context, found map[string]*coordinationv1.Lease) error {
	m := l.m
	held := map[string]int{}
	for name, lease := range found {
		if other, ok := strings.CutPrefix(name, m.Name+"-member-"); !ok || other == m.Identity {
			continue
		} else if l.over(lease) {
			l.forget(ctx, lease)
		} else {
			held[other] = 0
		}
	}
	open := l.terms(func(*term) bool { return true })
	var free []int
	for i := range m.Shards {
		shard := (i + m.Shard(m.Identity)) % m.Shards // so that not all members take the same ones
		lease := found[l.shardName(shard)]
		_, mine := open[shard]
		if _, live := held[holder(lease)]; live && !l.over(lease) {
			held[holder(lease)]++
		} else if !mine && (l.over(lease) || holder(lease) == m.Identity) { // in case the answer to its own write was lost
			free = append(free, shard)
		}
	}
	maps.DeleteFunc(open, func(_ int, t term) bool { return t.closing })
	held[m.Identity] = len(open)
	want := target(m.Shards, held, m.Identity)
	m.mu.Lock()
	for shard := range open {
		if len(open) > want && m.terms[shard] != nil {
			m.terms[shard].closing = true
			delete(open, shard)
		}
	}
	m.mu.Unlock()
	var errs []error
	free = free[:min(len(free), max(0, want-len(open)))]
	for _, shard := range free {
		if l.agreed() {
			errs = append(errs, l.take(ctx, shard, found[l.shardName(shard)]))
		}
	}
	return errors.Join(errs...)
}

// agreed reports whether the members agree on the number of shards.
func (l *leases) agreed() bool {
	return longest(l.m.group, l.m.Clock.Now()) < l.m.Duration-l.m.Skew
}

// forget deletes the Lease of a member that is gone. Leaving it does no harm, so
// errors are ignored.
func (l *leases) forget(ctx context.Context, lease *coordinationv1.Lease) {
	_ = l.do(ctx, func(ctx context.Context) error {
		return l.m.Client.Delete(ctx, lease, client.Preconditions{ResourceVersion: &lease.ResourceVersion})
	})
}
