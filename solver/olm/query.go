package olm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// query is one resolution in progress.
type query struct {
	*Resolver
	req        *Request
	sources    []*source // in order of preference
	installed  []*entry  // by name
	subs       []*subscription
	warnings   []Warning
	exclusions *exclusions            // what a question rules out, or nil
	left       map[*ChannelError]bool // channels without an order that were left out
	named      map[string]bool        // the only packages that should move; nil means all
	spare      bool                   // whether subscriptions may be left out, see serveMost
	waived     map[*need]bool         // requirements assumed to be met, for a trial
	known      map[string]*entry      // installed operators that were read before, by name, or nil
}

// subscription is a subscription with the operators that may serve it.
type subscription struct {
	*Subscription
	current    *entry   // the operator that it has installed, or nil
	candidates []*entry // from catalogs, the most wanted first
	invalid    string   // why nothing can serve it, or ""
}

// options returns all that may serve the subscription: the candidates, then the
// installed operator.
func (s *subscription) options() []*entry {
	if s.current == nil {
		return s.candidates
	}
	return append(slices.Clip(s.candidates), s.current)
}

// begin reads the request: which operators are installed, which catalogs are
// visible and what may serve each subscription.
func (r *Resolver) begin(ctx context.Context, req *Request) (*query, error) {
	q := &query{Resolver: r, req: req}
	return q, q.read(ctx)
}

// read is begin for a query that has its request.
func (q *query) read(ctx context.Context) error {
	q.left = make(map[*ChannelError]bool)
	if err := q.req.check(); err != nil {
		return err
	}
	subs, err := q.orderSubscriptions()
	if err != nil {
		return err
	}
	q.sources, q.warnings, err = q.healthy(q.visible(q.req), subs)
	if err != nil {
		return err
	}
	if err := q.readInstalled(subs); err != nil {
		return err
	}
	if err := q.readSubscriptions(subs); err != nil {
		return err
	}
	return ctx.Err()
}

// readSubscriptions finds what may serve each subscription.
func (q *query) readSubscriptions(subs []*Subscription) error {
	q.subs = make([]*subscription, len(subs))
	for i, sub := range subs {
		s := &subscription{Subscription: sub}
		q.readCurrent(s)
		if err := q.findCandidates(s); err != nil {
			return err
		}
		q.subs[i] = s
	}
	q.shareCandidates()
	return nil
}

// check rejects a request that names no namespace but has subscriptions or CSVs
// in one: all of them would be ignored.
func (req *Request) check() error {
	if req.Namespace != "" {
		return nil
	}
	for i := range req.Subscriptions {
		if s := &req.Subscriptions[i]; s.Namespace != "" {
			return fmt.Errorf("the request names no namespace, and subscription %s is of namespace %s; set Namespace to the one to resolve", s.Name, s.Namespace)
		}
	}
	for i := range req.Installed {
		if c := &req.Installed[i]; c.Namespace != "" {
			return fmt.Errorf("the request names no namespace, and csv %s is of namespace %s; set Namespace to the one to resolve", c.Name, c.Namespace)
		}
	}
	return nil
}

// shareCandidates lets one bundle serve two subscriptions to a package of which
// one names no channel: a candidate of the other, from a channel that does not
// offer it to the first, also serves the first if another channel offers it the
// same bundle.
func (q *query) shareCandidates() {
	byPackage := make(map[string][]*subscription)
	for _, s := range q.subs {
		byPackage[s.Spec.Package] = append(byPackage[s.Spec.Package], s)
	}
	for _, s := range q.subs {
		others := byPackage[s.Spec.Package]
		if s.Spec.Channel != "" || len(others) < 2 {
			continue
		}
		for _, o := range others {
			for _, e := range o.candidates {
				at := slices.IndexFunc(s.candidates, func(c *entry) bool { return c.source == e.source && c.name == e.name })
				if at >= 0 && !slices.Contains(s.candidates, e) {
					s.candidates = slices.Insert(s.candidates, at+1, e)
				}
			}
		}
	}
}

// orderSubscriptions returns the subscriptions of the namespace in the order in
// which they are served. Two of the same name are an error.
func (q *query) orderSubscriptions() ([]*Subscription, error) {
	subs := q.ordered()
	names := make(map[string]bool, len(subs))
	for _, s := range subs {
		if names[s.Name] {
			return nil, fmt.Errorf("subscription %s: the request has two of that name in namespace %q; give each a name of its own", s.Name, s.Namespace)
		}
		names[s.Name] = true
	}
	return subs, nil
}

func (q *query) ordered() []*Subscription {
	subs := make([]*Subscription, 0, len(q.req.Subscriptions))
	for i := range q.req.Subscriptions {
		if s := &q.req.Subscriptions[i]; s.Namespace == q.req.Namespace {
			subs = append(subs, s)
		}
	}
	if !q.opts.KeepOrder {
		slices.SortStableFunc(subs, func(a, b *Subscription) int { return strings.Compare(a.Name, b.Name) })
	}
	return subs
}

// readInstalled creates an entry for each CSV of the namespace.
func (q *query) readInstalled(subs []*Subscription) error {
	var csvs []ClusterServiceVersion
	for _, c := range q.req.Installed {
		if c.Namespace == q.req.Namespace && !c.Copied() {
			csvs = append(csvs, c)
		}
	}
	slices.SortStableFunc(csvs, func(a, b ClusterServiceVersion) int { return strings.Compare(a.Name, b.Name) })
	var gone map[string]bool
	if q.req.Group.FailsForward() {
		var err error
		if gone, err = failedForward(csvs); err != nil {
			return err
		}
	}
	for i := range csvs {
		if gone[csvs[i].Name] {
			continue
		}
		e, err := q.installedEntry(&csvs[i], subs)
		if err != nil {
			return fmt.Errorf("csv %s/%s: %w", csvs[i].Namespace, csvs[i].Name, err)
		}
		q.installed = append(q.installed, e)
	}
	for i := 1; i < len(q.installed); i++ {
		if name := q.installed[i].name; name == q.installed[i-1].name {
			return fmt.Errorf("csv %s/%s: the request has two of that name; a namespace holds one", q.req.Namespace, name)
		}
	}
	return nil
}

func (q *query) installedEntry(c *ClusterServiceVersion, subs []*Subscription) (*entry, error) {
	e := q.known[c.Name]
	if e == nil {
		props, err := projected(c, subs)
		if err != nil {
			return nil, err
		}
		e = newInstalled(c, decodeFacts(props, c.Spec.Version, q.needs))
	}
	if problem := e.facts().problem; problem != nil {
		q.warnings = append(q.warnings, Warning{Subject: "csv " + c.Name, Text: problem.Error() + "; the requirement was ignored"})
	}
	return e, nil
}

func newInstalled(c *ClusterServiceVersion, f *facts) *entry {
	e := &entry{
		operator: &operator{known: f},
		id:       "@existing/" + c.Namespace + "//" + c.Name,
		name:     c.Name,
		rank:     -1,
	}
	if n := len(f.packages); n > 0 {
		e.pkg = f.packages[n-1].name
	}
	return e
}

// readCurrent finds the operator that a subscription has installed. A name that
// no CSV has counts as nothing installed.
func (q *query) readCurrent(s *subscription) {
	name := s.Status.InstalledCSV
	at, ok := slices.BinarySearchFunc(q.installed, name, func(e *entry, n string) int { return strings.Compare(e.name, n) })
	if ok {
		s.current = q.installed[at]
	}
}

// findCandidates lists the bundles that may newly serve a subscription:
// catalogs in order of preference, within each the default channel and then the
// others by name, within each its chain. If nothing is installed, they are the
// chain, or the entries that startingCSV names; otherwise, the entries of the
// chain that update the installed operator.
func (q *query) findCandidates(s *subscription) error {
	named, others := q.sourcesOf(s)
	if s.invalid = absence(s, named); s.invalid != "" {
		return nil
	}
	var broken *ChannelError
	for _, src := range named {
		err := q.addCandidates(s, src)
		if err != nil && !q.opts.PartialOK {
			return fmt.Errorf("subscription %s: %w", s.Name, err)
		}
		broken = cmp.Or(broken, err)
	}
	if broken != nil && len(s.candidates) == 0 && (s.current == nil || s.Spec.Channel != "") {
		s.invalid = broken.Error()
		return nil
	}
	if broken != nil {
		q.left[broken] = true
	}
	if !q.opts.CrossCatalogUpdates || s.current == nil {
		return nil
	}
	for _, src := range others {
		if err := q.addCandidates(s, src); err != nil && !q.opts.PartialOK {
			return fmt.Errorf("subscription %s: %w", s.Name, err)
		}
	}
	return nil
}

// sourcesOf divides the visible catalogs into those that a subscription refers
// to and the others.
func (q *query) sourcesOf(s *subscription) (named, others []*source) {
	key := s.Source()
	if key == (SourceKey{}) {
		return q.sources, nil
	}
	for _, src := range q.sources {
		if src.SourceKey == key {
			named = append(named, src)
		} else {
			others = append(others, src)
		}
	}
	return named, others
}

// addCandidates adds the candidates of one catalog. It returns the error of the
// first channel without an order that would have been looked at.
func (q *query) addCandidates(s *subscription, src *source) (broken *ChannelError) {
	p := src.pkg(s.Spec.Package)
	if p == nil {
		return nil
	}
	for _, ch := range p.channels {
		if s.Spec.Channel != "" && ch.name != s.Spec.Channel {
			continue
		}
		if s.current == nil && s.Spec.StartingCSV != "" {
			if e := ch.named(s.Spec.StartingCSV); e != nil {
				s.candidates = append(s.candidates, e)
			}
			continue
		}
		if ch.err != nil {
			broken = cmp.Or(broken, ch.err)
			continue
		}
		if s.current == nil {
			s.candidates = append(s.candidates, ch.chain...)
			continue
		}
		version := s.current.facts().version
		for _, e := range ch.chain {
			if e.updates(s.current.name, version) {
				s.candidates = append(s.candidates, e)
			}
		}
	}
	return broken
}

// absence returns why nothing can serve a subscription if the catalogs lack the
// package, the channel or the startingCSV that it names, and otherwise "".
func absence(s *subscription, named []*source) string {
	var listed, pkg, channel, start bool
	for _, src := range named {
		listed = listed || !isEmpty(src.Catalog)
		p := src.pkg(s.Spec.Package)
		if p == nil {
			continue
		}
		for _, ch := range p.channels {
			if len(ch.entries) == 0 {
				continue
			}
			pkg = true
			if s.Spec.Channel == "" || ch.name == s.Spec.Channel {
				channel = true
				start = start || ch.named(s.Spec.StartingCSV) != nil
			}
		}
	}
	start = start || s.current != nil || s.Spec.StartingCSV == ""
	in := "in the catalogs visible in the namespace"
	if key := s.Source(); key != (SourceKey{}) {
		in = "in catalog " + key.String()
	}
	switch {
	case !listed:
		return "no operators found " + in
	case !pkg:
		return fmt.Sprintf("no operators found in package %s %s", s.Spec.Package, in)
	case !channel:
		return fmt.Sprintf("no operators found in channel %s of package %s", s.Spec.Channel, s.Spec.Package)
	case !start:
		return fmt.Sprintf("no operators found with name %s in %s of package %s", s.Spec.StartingCSV, channelText(s.Spec.Channel), s.Spec.Package)
	}
	return ""
}

func channelText(name string) string {
	if name == "" {
		return "any channel"
	}
	return "channel " + name
}

// isEmpty reports whether a catalog has no package.
func isEmpty(c *catalog.Catalog) bool {
	for range c.Packages() {
		return false
	}
	return true
}
