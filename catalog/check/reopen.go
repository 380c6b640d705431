package check

import (
	"context"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/inspect"
)

// Reopen opens a catalog again, as [catalog.Catalog.Reopen] does, and judges it
// as [Open] would, with what its report already knows: only files that changed
// are read, so that it costs little to look again after every change. before is the report of c, from
// whichever function of this package; one of another catalog is of no use, and
// costs a full judgement.
func Reopen(ctx context.Context, c *catalog.Catalog, before *Report) (*catalog.Catalog, *Report, error) {
	k := &bundleFaults{}
	now, err := c.Reopen(inspect.With(ctx, k.start))
	if now == nil {
		return nil, nil, err
	}
	if before == nil || before.of != c {
		report, err := Catalog(ctx, now, nil)
		return now, report, err
	}
	flaws := k.all()
	for d := range now.Documents() {
		if f := before.flaws[d]; f != nil { // of a file that did not change
			flaws[d] = f
		}
	}
	return now, judge(now, flaws, before.deprecated), nil
}
