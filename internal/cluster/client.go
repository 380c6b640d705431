package cluster

import (
	"maps"
	"math/rand/v2"
)

// Faults is how often what goes wrong with the calls of a client: once in so many
// times. 0 means never.
type Faults struct {
	Stale    int // a read sees an older state of the cluster than is known to others
	Fail     int // a call fails and has no effect
	Lost     int // a call takes effect, and its answer is lost
	Conflict int // an update is refused, as if somebody else had written
}

// Client is how one engine sees and changes a cluster: through a cache of its own
// that may be behind, with calls that may fail. It is for one goroutine.
type Client struct {
	c      *Cluster
	faults Faults
	rand   *rand.Rand
	cache  map[string]map[string]*entry
	seen   int // how many of the cluster's events are in the cache
	down   bool
}

// Client returns a client whose faults are drawn from a seed.
func (c *Cluster) Client(seed uint64, f Faults) *Client {
	x := &Client{c: c, faults: f, rand: rand.New(rand.NewPCG(seed, 14)), cache: map[string]map[string]*entry{}, seen: len(c.log)}
	for kind, table := range c.tables {
		x.cache[kind] = maps.Clone(table)
	}
	c.watched = true
	return x
}

// Heal ends all faults, and Outage begins or ends one in which no call succeeds.
func (x *Client) Heal() { x.faults, x.down = Faults{}, false }

// Outage has all calls fail and the cache stand still, until it is over.
func (x *Client) Outage(is bool) { x.down = is }

func (x *Client) hit(n int) bool { return n > 0 && x.rand.IntN(n) == 0 }

// Sync lets the cache catch up: with everything, or with a part of it as a fault.
// The cache holds at any time what the cluster was at one time: no object of it is
// older than another.
func (x *Client) Sync() {
	end := len(x.c.log)
	if x.down {
		return
	}
	if x.hit(x.faults.Stale) && end > x.seen {
		end = x.seen + x.rand.IntN(end-x.seen)
	}
	for _, e := range x.c.log[x.seen:end] {
		if x.cache[e.kind] == nil {
			x.cache[e.kind] = map[string]*entry{}
		}
		if e.entry == nil {
			delete(x.cache[e.kind], e.name)
		} else {
			x.cache[e.kind][e.name] = e.entry
		}
	}
	x.seen = end
}

// Behind reports how many events the cache has not seen.
func (x *Client) Behind() int { return len(x.c.log) - x.seen }

// Cached returns an object as the cache has it.
func Cached[T any](x *Client, k Kind[T], name string) (T, bool) {
	e := x.cache[k.Name][name]
	if e == nil {
		var none T
		return none, false
	}
	return *e.value.(*T), true
}

// CachedList returns the objects of a kind as the cache has them, by namespace and
// name.
func CachedList[T any](x *Client, k Kind[T]) []T { return list[T](x.cache[k.Name]) }

// Do makes a call that changes the cluster, with this client's faults.
func (x *Client) Do(call func(c *Cluster) error) error {
	if x.down || x.hit(x.faults.Fail) {
		return refused(503, "ServiceUnavailable", "the API server cannot be reached")
	}
	if x.hit(x.faults.Conflict) {
		return refused(409, "Conflict", "somebody else has written")
	}
	err := call(x.c)
	if x.hit(x.faults.Lost) {
		return refused(504, "Timeout", "the answer is lost")
	}
	return err
}

// Change writes an object as it is now, changed; there is nothing to do if change
// returns false.
func Change[T any](x *Client, k Kind[T], name, uid string, change func(*T) bool) error {
	return x.Do(func(c *Cluster) error {
		v, ok := Get(c, k, name)
		if !ok || uid != "" && k.Meta(&v).UID != uid {
			return refused(404, "NotFound", "there is no %s %s with UID %q", k.Name, name, uid)
		}
		if !change(&v) {
			return nil
		}
		_, err := Update(c, k, v)
		return err
	})
}
