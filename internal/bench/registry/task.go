package registry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/bench/cost"
)

// Tasks returns what is measured, each in a process of its own; the argument is the
// directory of a catalog.
func Tasks() []cost.Task {
	return []cost.Task{
		{Name: "read", Run: func(_ context.Context, dir string) error { return scan(os.DirFS(dir)) }},
		{Name: "open", Run: func(ctx context.Context, dir string) error {
			_, err := catalog.Open(ctx, os.DirFS(dir), nil)
			return err
		}},
		{Name: "LoadFS", Run: func(ctx context.Context, dir string) error {
			quiet()
			_, err := declcfg.LoadFS(ctx, os.DirFS(dir))
			return err
		}},
		{Name: "check", Run: func(ctx context.Context, dir string) error {
			_, report, err := check.Open(ctx, os.DirFS(dir), nil)
			if err == nil {
				err = report.Err()
			}
			return err
		}},
		{Name: "opm validate", Run: func(ctx context.Context, dir string) error {
			quiet()
			if v := Theirs(ctx, os.DirFS(dir)); !v.Valid {
				return fmt.Errorf("not valid: %s", v.Text)
			}
			return nil
		}},
	}
}

// scan reads every file once and looks at every byte: no reader of catalogs
// can do less.
func scan(fsys fs.FS) error {
	lines := 0
	buffer := make([]byte, 1<<20)
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := fsys.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for {
			n, err := f.Read(buffer)
			lines += bytes.Count(buffer[:n], []byte{'\n'})
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	if err == nil && lines == 0 {
		err = fmt.Errorf("there is no line in the catalog")
	}
	return err
}
