package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Status is the progress of a cluster.
type Status string

// The statuses. An unknown one counts as Progressing.
const (
	ToApply     Status = "ToApply"     // it has not started
	Progressing Status = "Progressing" // it is under way
	Succeeded   Status = "Succeeded"   // it is done
	Failed      Status = "Failed"      // it has failed, and may be retried until the deadline
	TimeOut     Status = "TimeOut"     // its deadline has passed
	Skip        Status = "Skip"        // it is left out
)

// Order is the order in which clusters are updated.
type Order string

// The orders.
const (
	Progressive Order = ""         // a fixed number at a time, by name
	PerGroup    Order = "PerGroup" // one group after the other, the clusters of a group together
	All         Order = "All"      // all at once, regardless of failures
)

// Strategy is how clusters are updated. The zero value updates all at once, and stops at
// the first failure.
type Strategy struct {
	Order Order `json:"order,omitempty"` // one of the above
	// First are the groups that go before all others, each as a whole, in this
	// order, and of which none may fail: the canaries. All ignores them.
	First []string `json:"first,omitempty"`
	// Concurrency is how many may be updated or soak at a time, in Progressive; a
	// percentage is of those that are not in First, rounded up. Zero means all.
	Concurrency fairlead.IntOrString `json:"concurrency,omitzero"`
	// Failures is how many may fail before nothing more is started; a percentage is
	// rounded up, in PerGroup for each group. Zero means none.
	Failures fairlead.IntOrString `json:"failures,omitzero"`
	// Soak is how long a cluster that is done holds its place. Deadline is how long one
	// may be updated or failing until it times out; zero means forever, and a negative
	// value means not at all.
	Soak     time.Duration `json:"soak,omitempty"`
	Deadline time.Duration `json:"deadline,omitempty"` // see Soak
}

// Check reports what is wrong with the strategy: the error is fairlead.FieldErrors.
func (s *Strategy) Check() error {
	var found fairlead.FieldErrors
	if s.Order != Progressive && s.Order != PerGroup && s.Order != All {
		found.Add("order", "%q is neither empty nor %s nor %s", s.Order, PerGroup, All)
	}
	if _, ok := sizeOf(s.Concurrency, 1, 1); !ok {
		found.Add("concurrency", "%q is not a percentage; write a number, or one as in 25%%", s.Concurrency.Text)
	}
	if _, ok := sizeOf(s.Failures, 1, 1); !ok {
		found.Add("failures", "%q is not a percentage; write a number, or one as in 25%%", s.Failures.Text)
	}
	if s.Soak < 0 {
		found.Add("soak", "%s is negative; leave it out for none", s.Soak)
	}
	return found.Err()
}

// Group is a wave: clusters that go together in PerGroup, and in Strategy.First.
type Group struct {
	Name     string   `json:"name"`     // its name, as in First
	Clusters []string `json:"clusters"` // by name; each is in one group
}

// Cluster is the progress of a cluster. One that is not listed has not started.
type Cluster struct {
	Name   string    `json:"name"`           // its own
	Status Status    `json:"status"`         // its progress
	Since  time.Time `json:"since,omitzero"` // since when; zero counts as now
}

// World is a fleet as observed.
type World struct {
	Groups   []Group   `json:"groups"`   // in their order
	Clusters []Cluster `json:"clusters"` // in any order; those of no group are reported as Removed
}

// Turn is a cluster whose turn it is.
type Turn struct {
	Cluster string    `json:"cluster"`        // its name
	Status  Status    `json:"status"`         // its progress; one that has Succeeded soaks
	Again   time.Time `json:"again,omitzero"` // when to look at it again: its deadline, or the end of its soak
}

// Choice is what is due.
type Choice struct {
	Go       []Turn    `json:"go,omitempty"`       // to start, continue, or soak; by name, in PerGroup by group
	TimedOut []Turn    `json:"timedOut,omitempty"` // under way for longer than the deadline
	Removed  []string  `json:"removed,omitempty"`  // listed in World.Clusters, and in no group
	Stopped  bool      `json:"stopped,omitempty"`  // too many have failed: nothing more is started
	Again    time.Time `json:"again,omitzero"`     // when to look again; zero if only an event changes anything

	group    string   // the group that is not over
	failed   []string // in order of discovery
	tolerate int
	size     int // how many at a time
}

// Choose returns which clusters are due. It is a pure function; its cost is linear in the
// clusters, plus sorting them. The error is that of Strategy.Check.
func Choose(w *World, s *Strategy, now time.Time) (*Choice, error) {
	if s == nil {
		s = &Strategy{}
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	c := &chooser{s: s, now: now, of: map[string]int{}}
	for i, g := range w.Groups {
		for _, name := range g.Clusters {
			c.of[name] = i
		}
	}
	var removed []string
	for _, x := range w.Clusters {
		if _, there := c.of[x.Name]; there {
			c.known = append(c.known, x)
		} else {
			removed = append(removed, x.Name)
		}
	}
	out := c.choose(w.Groups)
	out.Removed = removed
	for _, t := range out.Go {
		if t.Again.After(now) && (out.Again.IsZero() || t.Again.Before(out.Again)) {
			out.Again = t.Again
		}
	}
	return out, nil
}

// chooser makes a choice.
type chooser struct {
	s     *Strategy
	now   time.Time
	of    map[string]int // the group of each cluster
	known []Cluster
}

func (c *chooser) choose(groups []Group) *Choice {
	total := len(c.of)
	if c.s.Order == All {
		return c.perCluster(groups, total, total, 0)
	}
	var first, rest []Group
	for _, name := range c.s.First {
		if i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == name }); i >= 0 {
			first = append(first, groups[i])
		}
	}
	for _, g := range groups {
		if !slices.Contains(c.s.First, g.Name) {
			rest = append(rest, g)
		}
	}
	if len(first) > 0 {
		out := c.perGroup(first, fairlead.IntOrString{})
		if slices.ContainsFunc(slices.Concat(out.Go, out.TimedOut), func(t Turn) bool { return slices.Contains(c.s.First, groups[c.of[t.Cluster]].Name) }) {
			return out // other clusters in progress hold up nothing once these are over
		}
	}
	if c.s.Order == PerGroup {
		return c.perGroup(rest, c.s.Failures)
	}
	n := 0
	for _, g := range rest {
		n += len(g.Clusters)
	}
	size, _ := sizeOf(c.s.Concurrency, n, n)
	failures, _ := sizeOf(c.s.Failures, total, 0)
	return c.perCluster(rest, size, failures, c.s.Soak)
}

// perCluster chooses up to size clusters at a time, by name.
func (c *chooser) perCluster(groups []Group, size, failures int, soak time.Duration) *Choice {
	out := &Choice{size: size, tolerate: failures}
	slices.SortFunc(c.known, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	seen := map[string]bool{}
	for _, x := range c.known {
		seen[x.Name] = true
		if !out.Stopped || x.Status != ToApply {
			c.look(out, x, soak)
		}
		if x.Status == TimeOut || x.Status == Failed {
			out.failed = append(out.failed, x.Name)
			out.Stopped = len(out.failed) > failures
		}
		if len(out.Go) >= size {
			return out
		}
	}
	if out.Stopped {
		return out
	}
	var names []string
	for _, g := range groups {
		for _, name := range g.Clusters {
			if !seen[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), max(size-len(out.Go), 1))] {
		out.Go = append(out.Go, Turn{Cluster: name, Status: ToApply})
	}
	return out
}

// perGroup chooses the first group that is not over.
func (c *chooser) perGroup(groups []Group, failures fairlead.IntOrString) *Choice {
	out := &Choice{}
	known := map[string]Status{}
	for _, x := range c.known {
		if x.Status != ToApply {
			c.look(out, x, c.s.Soak)
			known[x.Name] = x.Status
		}
	}
	for _, g := range groups {
		out.tolerate, _ = sizeOf(failures, len(g.Clusters), 0)
		failed := 0
		for _, name := range slices.Sorted(slices.Values(g.Clusters)) {
			status, there := known[name]
			switch {
			case !there:
				out.Go = append(out.Go, Turn{Cluster: name, Status: ToApply})
			case status == TimeOut || status == Failed:
				out.failed = append(out.failed, name)
				failed++
				out.Stopped = failed > out.tolerate
			}
		}
		if out.group = g.Name; len(out.Go) > len(out.failed) || out.Stopped {
			return out
		}
	}
	return out
}

// look adds a cluster of the world to the choice.
func (c *chooser) look(out *Choice, x Cluster, soak time.Duration) {
	since := x.Since
	if since.IsZero() {
		since = c.now
	}
	t := Turn{Cluster: x.Name, Status: x.Status}
	switch x.Status {
	case ToApply:
		out.Go = append(out.Go, t)
	case Succeeded:
		if t.Again = since.Add(soak); c.now.Before(t.Again) {
			out.Go = append(out.Go, t)
		}
	case TimeOut, Skip:
	default:
		if c.s.Deadline != 0 {
			t.Again = since.Add(max(c.s.Deadline, 0))
		}
		if c.s.Deadline == 0 || c.now.Before(t.Again) {
			out.Go = append(out.Go, t)
		} else {
			t.Status = TimeOut
			out.TimedOut = append(out.TimedOut, t)
		}
	}
}

// sizeOf reads a number or a percentage of a total; what is out of range counts as the
// default.
func sizeOf(x fairlead.IntOrString, total, otherwise int) (int, bool) {
	n := x.Int
	if x.Text != "" {
		text, ok := strings.CutSuffix(x.Text, "%")
		f, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return otherwise, false
		}
		n = int(min(math.Ceil(f/100*float64(total)), math.MaxInt32))
	}
	if n <= 0 || n > total {
		n = otherwise
	}
	return n, true
}

// Why says how far a cluster is, and what it waits for if it is not due yet. The error is
// that of Choose.
func Why(w *World, s *Strategy, now time.Time, name string) (string, error) {
	c, err := Choose(w, s, now)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(w.Groups, func(g Group) bool { return slices.Contains(g.Clusters, name) })
	if at < 0 {
		return name + " is in no group, so it is never updated", nil
	}
	is := Cluster{Name: name, Status: ToApply}
	if i := slices.IndexFunc(w.Clusters, func(x Cluster) bool { return x.Name == name }); i >= 0 {
		is = w.Clusters[i]
	}
	turn := func(list []Turn) int {
		return slices.IndexFunc(list, func(t Turn) bool { return t.Cluster == name })
	}
	switch i := turn(c.Go); {
	case i >= 0 && is.Status == ToApply:
		return name + " is due now", nil
	case i >= 0 && is.Status == Succeeded:
		return fmt.Sprintf("%s is done, and soaks until %s", name, c.Go[i].Again.UTC().Format(time.RFC3339)), nil
	case turn(c.TimedOut) >= 0 || is.Status == TimeOut:
		return name + " timed out: it was under way for longer than the deadline", nil
	case is.Status == Succeeded:
		return name + " is done", nil
	case is.Status == Skip:
		return name + " is left out", nil
	case is.Status != ToApply:
		return fmt.Sprintf("%s is under way (%s)", name, cmp.Or(is.Status, Progressing)), nil
	case c.Stopped:
		return fmt.Sprintf("%s does not start: %s failed before it, and at most %d may fail", name, some(c.failed), c.tolerate), nil
	}
	var open []string
	for _, t := range c.Go {
		open = append(open, t.Cluster)
	}
	if c.group != "" && w.Groups[at].Name != c.group {
		return fmt.Sprintf("%s is not yet due: its group %s comes after %s, which is not over: %s", name, w.Groups[at].Name, c.group, some(open)), nil
	}
	return fmt.Sprintf("%s is not yet due: %d may be under way or soak at a time, and those are %s", name, c.size, some(open)), nil
}
