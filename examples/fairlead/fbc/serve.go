package fbc

import (
	"errors"
	"net"
	"net/http"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/catalog/serve"
	"github.com/fairlead/fairlead/examples/internal/listen"
	"github.com/fairlead/fairlead/internal/words"
)

func serveCatalog(c *call) error {
	address := c.Flags.String("addr", "localhost:8080", "")
	from := c.sourceFlags()
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	cat, err := c.open(c.Arg(0))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", serve.NewHandler(cat, nil))
	mux.Handle("/apis/", serve.NewPackages([]serve.Shelf{{Source: *from, Catalog: cat}}, nil))
	return listen.Serve(c.Context, *address, mux, func(at net.Addr) { words.Fprintf(c.Stdout, "http://%s/api/v1/all\n", at) })
}

// pull merges the changes of another catalog since a base into a catalog.
func (c *call) pull(base, ours, theirs string, opts *edit.MergeOptions, show bool) error {
	var catalogs [2]*catalog.Catalog
	for i, path := range []string{base, theirs} {
		cat, err := c.open(path)
		if err != nil {
			return err
		}
		catalogs[i] = cat
	}
	src, err := c.source(ours)
	if err != nil {
		return err
	}
	e, err := edit.Open(c.Context, src)
	if err != nil {
		return c.reported(err)
	}
	p, conflicts, err := e.Pull(c.Context, catalogs[0], catalogs[1], opts)
	var disagree *edit.ConflictError
	if errors.As(err, &disagree) {
		conflicts = disagree.Conflicts
	}
	for _, conflict := range conflicts {
		words.Fprintf(c.Stderr, "%v\n", conflict)
	}
	if err != nil {
		return findingsIf(disagree != nil, err)
	}
	return c.apply(ours, src, p, show)
}
