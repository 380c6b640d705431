package catalog

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
)

// ValidateOptions tune validation. The zero value, and nil, are the defaults.
type ValidateOptions struct {
	// Workers is how many bundles are checked at once. Default GOMAXPROCS. The
	// result does not depend on it.
	Workers int
}

// Report is what validation found. It never changes.
type Report struct {
	findings Diagnostics // sorted
	warnings Diagnostics // sorted
	opm      opmVerdict
}

// Valid reports whether there is no finding. Warnings do not count.
func (r *Report) Valid() bool { return len(r.findings) == 0 }

// Findings returns what makes the catalog invalid, sorted by position.
func (r *Report) Findings() Diagnostics { return slices.Clone(r.findings) }

// Warnings returns the advice of the lints that were asked for, sorted by
// position.
func (r *Report) Warnings() Diagnostics { return slices.Clone(r.warnings) }

// Err returns the findings as an error, nil if there are none.
func (r *Report) Err() error { return r.Findings().Err() }

// Check opens the catalog in fsys and validates it in one go, which spares the
// second look that [Catalog.Validate] takes at the bundles.
//
// Faults of files are part of the report, and validation goes on with the
// documents that have none. The error is one of opening that comes without a
// catalog, see [Open].
func Check(ctx context.Context, fsys fs.FS, opts *Options) (*Catalog, *Report, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.check = true
	c, err := Open(ctx, fsys, &o)
	if c == nil {
		return nil, nil, err
	}
	report, err2 := c.Validate(ctx, &ValidateOptions{Workers: o.Workers})
	if err2 != nil {
		return nil, nil, err2
	}
	return c, report.with(err), nil
}

// Validate judges the catalog by the rules that every reader of catalogs
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
// catalog was opened by [Check]. The error is that of ctx or of reading.
func (c *Catalog) Validate(ctx context.Context, opts *ValidateOptions) (*Report, error) {
	workers := c.opts.Workers
	if opts != nil && opts.Workers > 0 {
		workers = opts.Workers
	}
	flaws, err := c.checkBundles(ctx, workers)
	if err != nil {
		return nil, err
	}
	v := &validator{c: c, flaws: flaws, packages: map[string]*packageState{}}
	v.loadFaults()
	v.addPackages()
	v.addChannels()
	v.addBundles()
	v.checkEntries()
	v.checkDeprecations()
	for _, p := range v.sortedPackages() {
		v.checkPackage(p)
	}
	return v.report(), nil
}

// with adds the faults of opening, which the error of Open carries.
func (r *Report) with(err error) *Report {
	faults, ok := err.(Diagnostics)
	if !ok {
		return r
	}
	all := append(slices.Clone(r.findings), faults...)
	return &Report{findings: all.Sorted(), warnings: r.warnings, opm: r.opm.withFault(faults[0])}
}

// checkBundles returns the flaws of every bundle document, taking them from
// the index where it has them.
func (c *Catalog) checkBundles(ctx context.Context, workers int) (map[*bundleRecord]*bundleFlaws, error) {
	var pending []*bundleRecord
	flaws := map[*bundleRecord]*bundleFlaws{}
	for _, f := range c.files {
		for _, r := range f.bundles {
			if r.flaws == nil {
				pending = append(pending, r)
			} else if r.flaws != noFlaws {
				flaws[r] = r.flaws
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := make([]*bundleFlaws, len(pending))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, len(pending)) {
		group.Go(func() {
			k := newBundleChecker()
			for i := int(next.Add(1)) - 1; i < len(pending) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				d, err := pending[i].doc.load()
				if err != nil {
					cancel(fmt.Errorf("catalog: %s: %s changed or cannot be read: %w", pending[i].doc.start, pending[i].doc.subject(), err))
					return
				}
				found[i] = k.check(d)
			}
		})
	}
	group.Wait()
	for i, r := range pending {
		if found[i] != noFlaws {
			flaws[r] = found[i]
		}
	}
	return flaws, context.Cause(ctx)
}
