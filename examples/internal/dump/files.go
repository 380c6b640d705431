package dump

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files hands over what open opens: a file of a name or, of a directory, each file .yaml, .yml
// or .json below it, by path. The files alerts.json there hold no objects: they go to alerts,
// if that is not nil.
func Files(open func(name string) (io.ReadCloser, error), name string, read func(src io.Reader, file string) error, alerts func(file string) error) error {
	one := func(file string) error {
		src, err := open(file)
		if err != nil {
			return err
		}
		defer src.Close()
		return read(src, file)
	}
	if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
		return one(name)
	}
	return filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		switch ext := filepath.Ext(path); {
		case entry.Name() == "alerts.json":
			if alerts == nil {
				return nil
			}
			return alerts(path)
		case ext != ".yaml" && ext != ".yml" && ext != ".json":
			return nil
		}
		return one(path)
	})
}

// Once hands each object over once: several files of a must-gather hold the same one. Lists
// are handed over always.
func Once(take func(Object) error) func(Object) error {
	seen := map[[3]string]bool{}
	return func(o Object) error {
		key := [3]string{o.Kind, o.Meta.Namespace, o.Meta.Name}
		if o.Meta.Name != "" && seen[key] {
			return nil
		}
		seen[key] = true
		return take(o)
	}
}

// Lists writes the objects of some kinds as lists of one item, or of none: a list says of what
// kind its items are where those do not.
func Lists(to io.Writer, kinds ...string) func(Object) error {
	type list struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	encoder := json.NewEncoder(to)
	return func(o Object) error {
		kind, empty := strings.CutSuffix(o.Kind, "List")
		switch {
		case !slices.Contains(kinds, kind):
			return nil
		case empty:
			return encoder.Encode(list{o.Kind, []json.RawMessage{}})
		}
		return encoder.Encode(list{kind + "List", []json.RawMessage{o.JSON}})
	}
}
