package source

import (
	"fmt"
	"time"
)

// DefaultPoll is how often a registry is asked where the interval cannot be
// read.
const DefaultPoll = 15 * time.Minute

// Poll is when a registry is asked for an image again.
type Poll struct {
	// Due tells that it is to be asked now.
	Due bool
	// Next is when, if not now; zero if it is never asked.
	Next time.Time
	// Interval is the time between two questions; zero if none is asked.
	Interval time.Duration
	// Problem says why DefaultPoll stands in for the interval of the spec; ""
	// if it does not.
	Problem string
}

// Poll decides when the registry is asked for a newer image of the catalog:
// an interval after it was asked last, or after the catalog source was made.
// Only grpc catalogs with an image and with an interval are asked for.
//
// An interval that cannot be read, or is not positive, counts as DefaultPoll.
func (c *CatalogSource) Poll(now time.Time) Poll {
	u := c.Spec.UpdateStrategy
	if c.Spec.SourceType != TypeGRPC || !c.runsImage() || u == nil || u.RegistryPoll == nil || u.RegistryPoll.Interval == "" {
		return Poll{}
	}
	var p Poll
	interval, err := time.ParseDuration(u.RegistryPoll.Interval)
	switch {
	case err != nil:
		p.Problem = fmt.Sprintf("interval %q is not a duration; write one such as 30m0s; the registry is polled every %s", u.RegistryPoll.Interval, DefaultPoll)
		interval = DefaultPoll
	case interval <= 0:
		p.Problem = fmt.Sprintf("interval %q is not positive; write one such as 30m0s; the registry is polled every %s", u.RegistryPoll.Interval, DefaultPoll)
		interval = DefaultPoll
	}
	last := c.Status.LatestImageRegistryPoll
	if last.IsZero() {
		last = c.CreationTimestamp
	}
	p.Interval, p.Next = interval, last.Add(interval)
	if !p.Next.After(now) {
		p.Due, p.Next = true, time.Time{}
	}
	return p
}

// runsImage reports whether the catalog is served by a pod of an image.
func (c *CatalogSource) runsImage() bool {
	return c.Spec.SourceType == TypeGRPC && (c.Spec.Image != "" || c.Annotations[ImageTemplateAnnotation] != "")
}
