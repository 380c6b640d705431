package source

import (
	"fmt"
	"time"
)

// DefaultPoll is how often a registry is polled if the interval is invalid.
const DefaultPoll = 15 * time.Minute

// Poll is when a registry is next polled for an image.
type Poll struct {
	// Due says that it must be polled now.
	Due bool
	// Next is when to poll it if that is not now; zero if it is never polled.
	Next time.Time
	// Interval is the time between two polls; zero if it is never polled.
	Interval time.Duration
	// Problem says why DefaultPoll is used instead of the interval of the spec, or
	// is "".
	Problem string
}

// Poll decides when the registry is polled for a newer image of the catalog: an
// interval after the last poll, or after the catalog source was created. Only grpc
// catalogs with an image and an interval are polled.
//
// An interval that cannot be parsed, or is not positive, counts as DefaultPoll.
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

// runsImage reports whether the catalog is served by a pod that runs an image.
func (c *CatalogSource) runsImage() bool {
	return c.Spec.SourceType == TypeGRPC && (c.Spec.Image != "" || c.Annotations[ImageTemplateAnnotation] != "")
}
