package install

import (
	"reflect"
)

// catalogs reconciles the catalogs of the namespace: it runs the image of
// each, polls its registry when due, and writes the connection state. It also
// reports which catalogs of other namespaces that are visible here cannot be
// used.
func (s *stepper) catalogs() {
	for _, c := range sorted(s.Catalogs, func(c *Catalog) string { return c.Key().String() }) {
		subject := "catalog " + c.Key().String()
		if c.Namespace == s.Namespace && !s.served(c, subject) {
			s.observed(c, subject)
		}
		if err := c.Err(); err != nil {
			s.block(subject, ReasonCatalog, err.Error(), "whoever owns the catalog", "correct the CatalogSource as this message says")
		}
	}
}

// served runs the pod of a catalog as it should be, and reports whether it
// had to.
func (s *stepper) served(c *Catalog, subject string) bool {
	if c.Check() != nil {
		return false
	}
	image, _, err := c.CatalogSource.Image(s.KubeVersion)
	if err != nil {
		s.block(subject, ReasonCatalog, err.Error(), "whoever owns the catalog", "correct the CatalogSource as this message says; until then it runs as before")
		return false
	}
	place, ok := c.CatalogSource.Placement()
	if !ok {
		return false
	}
	poll := c.Poll(s.now)
	if !poll.Next.IsZero() {
		s.At(poll.Next)
	}
	place.Warning = ""
	if c.Image == image && c.Placement != nil && reflect.DeepEqual(*c.Placement, place) && !poll.Due {
		return false
	}
	s.block(subject, ReasonCatalogPending, s.doing(ServeCatalog{Name: c.Name, Revision: c.Revision, Image: image, Placement: place, Polled: s.now}, "its pod is being started with image "+image), theBackend, "wait until the pod is observed")
	return true
}

// observed writes the connection state of a catalog.
func (s *stepper) observed(c *Catalog, subject string) {
	if c.Seen == "" {
		return
	}
	want := c.Status.Connect(c.Address, c.Seen, s.now)
	if old := c.Status.ConnectionState; old != nil && *old == *want {
		return
	}
	next := c.Status
	next.ConnectionState = want
	s.block(subject, ReasonCatalogPending, s.doing(UpdateCatalog{Name: c.Name, Revision: c.Revision, Status: next}, "its connection state is being written"), theBackend, "wait until it is observed")
}
