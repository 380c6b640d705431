package registry

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/fairlead/fairlead/catalog"
)

// task is one thing that is measured, in a process of its own.
type task struct {
	name string
	run  func(ctx context.Context, fsys fs.FS) error
}

// tasks are, in the order of [result].
var tasks = []task{
	{"read", func(_ context.Context, fsys fs.FS) error { return scan(fsys) }},
	{"open", func(ctx context.Context, fsys fs.FS) error { _, err := catalog.Open(ctx, fsys, nil); return err }},
	{"LoadFS", func(ctx context.Context, fsys fs.FS) error { _, err := declcfg.LoadFS(ctx, fsys); return err }},
	{"check", func(ctx context.Context, fsys fs.FS) error {
		_, report, err := catalog.Check(ctx, fsys, nil)
		if err == nil {
			err = report.Err()
		}
		return err
	}},
	{"opm validate", func(ctx context.Context, fsys fs.FS) error {
		if v := Theirs(ctx, fsys); !v.Valid {
			return fmt.Errorf("not valid: %s", v.Text)
		}
		return nil
	}},
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

// childEnv tells a process that it is one that [Child] serves.
const childEnv = "FAIRLEAD_BENCH_TASK"

// Child does the task that the environment names, and reports true; false in a
// process that is not a child of [Report]. It prints what the task used: time of
// the processors and on the clock in nanoseconds, and the peak memory in bytes.
func Child(ctx context.Context) (bool, error) {
	name := os.Getenv(childEnv)
	if name == "" {
		return false, nil
	}
	for _, t := range tasks {
		if t.name != name {
			continue
		}
		quiet()
		fsys := os.DirFS(os.Args[1])
		before := usage()
		if err := t.run(ctx, fsys); err != nil {
			return true, fmt.Errorf("%s: %w", name, err)
		}
		after := usage()
		out := bufio.NewWriter(os.Stdout)
		fmt.Fprintln(out, int64(after.cpu-before.cpu), int64(after.clock-before.clock), peak())
		return true, out.Flush()
	}
	return true, fmt.Errorf("there is no task %q", name)
}
