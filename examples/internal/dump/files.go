package dump

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files says what is done with the files of a dump.
type Files struct {
	Open   func(name string) (io.ReadCloser, error) // opens a file, or standard input for "-"
	Read   func(src io.Reader, file string) error   // takes a file with objects
	Alerts func(file string) error                  // takes a file with alerts; without it these are passed over
	Skip   func(dir string) bool                    // tells the names of directories that are not looked into; if nil, there are none
}

// In takes the file of a name, standard input for "-" or, of a directory, each file .yaml, .yml
// or .json below it, by path. Alerts are those files there that are called alerts.json, and
// prometheus/rules.json, as a must-gather has it. A file that goes while a directory is read is
// not part of the dump; one that must not be read is an error, once all others were taken.
func (f Files) In(name string) error {
	if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
		return f.one(name)
	}
	var closed error
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			err = f.entry(path, entry.Name())
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != name:
			return nil
		case errors.Is(err, fs.ErrPermission) && path != name:
			closed = cmp.Or(closed, err)
			return nil
		case err == nil && entry.IsDir() && path != name && f.Skip != nil && f.Skip(entry.Name()):
			return fs.SkipDir
		}
		return err
	})
	if err == nil && closed != nil {
		return fmt.Errorf("%w; make the whole dump readable: what is missing may be what matters", closed)
	}
	return err
}

// entry takes a file of a directory.
func (f Files) entry(path, name string) error {
	switch ext := filepath.Ext(name); {
	case name == "alerts.json", name == "rules.json" && filepath.Base(filepath.Dir(path)) == "prometheus":
		if f.Alerts == nil {
			return nil
		}
		return f.Alerts(path)
	case ext != ".yaml" && ext != ".yml" && ext != ".json":
		return nil
	}
	return f.one(path)
}

func (f Files) one(name string) error {
	src, err := f.Open(name)
	if err != nil {
		return err
	}
	defer src.Close()
	return f.Read(src, name)
}

// Objects hands over each object of a file, or of a directory, once; see [Files.In] for which
// files, and [Read] for which objects.
func Objects(open func(string) (io.ReadCloser, error), name string, take func(Object) error) error {
	once := Once(take)
	read := func(src io.Reader, file string) error {
		if file == "-" {
			file = "standard input"
		}
		return Read(src, file, once)
	}
	return Files{Open: open, Read: read}.In(name)
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
