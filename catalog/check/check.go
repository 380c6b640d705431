package check

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/inspect"
	"github.com/fairlead/fairlead/internal/doc"
)

// Options tune validation. The zero value, and nil, are the defaults.
type Options struct {
	// Workers is how many bundles are checked at once. Default GOMAXPROCS. The
	// result does not depend on it.
	Workers int
}

// Report is what validation found. It never changes.
type Report struct {
	findings catalog.Diagnostics // sorted
	hidden   catalog.Diagnostics // sorted
	warnings catalog.Diagnostics // sorted
	opm      opmVerdict
	counts   Counts
	fixes    []Fix

	of    *catalog.Catalog // what was checked
	sound map[string]bool  // packages without findings
	flaws map[*catalog.Document]*bundleFlaws
}

// Counts say how much was checked.
type Counts struct {
	Packages int `json:"packages"` // packages
	Channels int `json:"channels"` // channels of all packages
	Bundles  int `json:"bundles"`  // bundles of all packages
}

// Counts returns how much was checked: an empty catalog is valid, but is usually
// the wrong directory.
func (r *Report) Counts() Counts { return r.counts }

func countsOf(c *catalog.Catalog) (n Counts) {
	for p := range c.Packages() {
		n.Packages++
		for range p.Channels() {
			n.Channels++
		}
		for range p.Bundles() {
			n.Bundles++
		}
	}
	return n
}

// Valid reports whether there is no finding. Warnings do not count.
func (r *Report) Valid() bool { return len(r.findings) == 0 }

// Findings returns what makes the catalog invalid, sorted by position.
func (r *Report) Findings() catalog.Diagnostics { return slices.Clone(r.findings) }

// Hidden returns findings that were left out because they likely follow from one
// of [Report.Findings], so that each fault is reported once. They are sorted by
// position.
func (r *Report) Hidden() catalog.Diagnostics { return slices.Clone(r.hidden) }

// Warnings returns those of the catalog and the advice of the lints that were asked for,
// sorted by position.
func (r *Report) Warnings() catalog.Diagnostics { return slices.Clone(r.warnings) }

// Err returns the findings as an error, nil if there are none.
func (r *Report) Err() error { return r.Findings().Err() }

// Open opens the catalog in fsys and checks it in one pass, which saves the
// second read of the bundles that [Catalog] needs.
//
// Errors in files are part of the report; documents without errors are still
// checked. An error means that there is no catalog, see [catalog.Open].
func Open(ctx context.Context, fsys fs.FS, opts *catalog.Options) (*catalog.Catalog, *Report, error) {
	k := &bundleFaults{}
	c, err := catalog.Open(inspect.With(ctx, k.start), fsys, opts)
	if c == nil {
		return nil, nil, err
	}
	r, err := judge(ctx, c, k.all(), &Report{})
	if err != nil {
		return nil, nil, err
	}
	return c, r, nil
}

// Catalog checks a catalog against the rules that every reader of catalogs
// relies on, and reports all findings at once:
//
//  1. names: packages are named by DNS labels; packages, the channels and
//     bundles of a package, and the entries of a channel are unique; channels,
//     bundles and deprecations belong to a package that is there;
//  2. bundles: each has one olm.package property, of its package and with a
//     strict version; values of known properties have their form; image
//     references are well formed; each bundle is in a channel, each entry of a
//     channel is a bundle; no two bundles of a package share a version;
//  3. updates: a package's default channel is one of its channels; a channel
//     has exactly one head, from which the chain of replaces, up to the first
//     skipped entry, passes every entry that is not skipped, none twice;
//  4. deprecations: one document for a package, whose entries refer to what is
//     there, each thing once, with a message.
//
// Those are the rules of opm validate; [Report.OPM] gives its verdict in
// its words.
//
// The documents of bundles are read again, with several workers, unless the
// catalog was opened by [Open]. The error is that of ctx or of reading.
func Catalog(ctx context.Context, c *catalog.Catalog, opts *Options) (*Report, error) {
	workers := runtime.GOMAXPROCS(0)
	if opts != nil && opts.Workers > 0 {
		workers = opts.Workers
	}
	flaws, err := checkBundles(ctx, c, workers)
	if err != nil {
		return nil, err
	}
	return judge(ctx, c, flaws, &Report{})
}

// judge checks the documents. flaws are those of bundles that have any, and
// before is what is already known. The error is that of ctx.
func judge(ctx context.Context, c *catalog.Catalog, flaws map[*catalog.Document]*bundleFlaws, before *Report) (*Report, error) {
	v := &validator{c: c, flaws: flaws, settled: settled(c, before), packages: map[string]*packageState{}}
	for _, part := range []func(){v.loadFaults, v.addPackages, v.addUnread, v.addChannels, v.addBundles, v.checkEntries, v.checkDeprecations} {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		part()
	}
	for _, p := range v.sortedPackages() {
		if err := v.checkPackage(ctx, p); err != nil {
			return nil, err
		}
	}
	v.quiet()
	return v.report(ctx)
}

// bundleFaults collects the flaws of bundles while a catalog is opened.
type bundleFaults struct {
	mu   sync.Mutex
	each []map[*catalog.Document]*bundleFlaws // by worker
}

// start makes the function of one more worker.
func (b *bundleFaults) start() inspect.Func {
	k, found := newBundleChecker(), map[*catalog.Document]*bundleFlaws{}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.each = append(b.each, found)
	return func(d any, text *doc.Document) {
		if flaws := k.check(text); flaws != noFlaws {
			found[d.(*catalog.Document)] = flaws
		}
	}
}

// all returns what the workers found, once they are done.
func (b *bundleFaults) all() map[*catalog.Document]*bundleFlaws {
	all := map[*catalog.Document]*bundleFlaws{}
	for _, found := range b.each {
		maps.Copy(all, found)
	}
	return all
}

// checkBundles returns the flaws of the bundles that have any. It reads them.
func checkBundles(ctx context.Context, c *catalog.Catalog, workers int) (map[*catalog.Document]*bundleFlaws, error) {
	var pending []*catalog.Document
	for d := range c.Documents() {
		if d.Schema() == catalog.SchemaBundle {
			pending = append(pending, d)
		}
	}
	found := make([]*bundleFlaws, len(pending))
	err := share(ctx, workers, len(pending), func() func(int) error {
		k := newBundleChecker()
		return func(i int) error {
			d, err := doc.Reload(pending[i])
			if err != nil {
				return fmt.Errorf("catalog: %s: %s changed or cannot be read: %w", pending[i].Start(), pending[i].Subject(), err)
			}
			found[i] = k.check(d)
			return nil
		}
	})
	flaws := map[*catalog.Document]*bundleFlaws{}
	for i, d := range pending {
		if found[i] != nil && found[i] != noFlaws {
			flaws[d] = found[i]
		}
	}
	return flaws, err
}
