package diagnose

import (
	"os"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
)

// read parses the arguments, the first of which is a dump, and diagnoses it.
func read(c *args.Call, arguments int) (*diagnosis.Diagnosis, error) {
	at := instant(c)
	if err := c.Parse(arguments, arguments); err != nil {
		return nil, err
	}
	s, err := open(c, c.Args[0])
	if err != nil {
		return nil, err
	}
	c.Doing("diagnosing")
	return diagnosis.Diagnose(s, *at), nil
}

// open reads a dump: a directory, a file, or standard input.
func open(c *args.Call, name string) (*snapshot.Snapshot, error) {
	var r snapshot.Reader
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		root, err := os.OpenRoot(name) // links do not lead out of it
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }() // nothing was written
		if err := r.FS(root.FS(), name); err != nil {
			return nil, err
		}
		return r.Snapshot()
	}
	src, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if err := r.Stream(src, name); err != nil {
		return nil, err
	}
	return r.Snapshot()
}
