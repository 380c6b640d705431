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

// Files are the functions that handle the files of a dump.
type Files struct {
	Open   func(name string) (io.ReadCloser, error) // opens a file, or standard input for "-"
	Read   func(src io.Reader, file string) error   // reads a file with objects
	Alerts func(file string) error                  // reads a file with alerts; if nil, these files are skipped
	Skip   func(dir string) bool                    // reports whether to skip a directory, by name; if nil, none is skipped
}

// In reads the named file, standard input for "-" or, for a directory, each .yaml, .yml or
// .json file below it, by path. The files with alerts in a directory are alerts.json, and
// prometheus/rules.json as in a must-gather. A file that is removed while a directory is read
// is not part of the dump; one without read permission is an error, after all others are read.
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
		return fmt.Errorf("%w; make the whole dump readable: the missing part may matter", closed)
	}
	return err
}

// entry reads a file of a directory.
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

// Objects calls a function once with each object of a file or a directory; see [Files.In] for
// the files and [Read] for the objects.
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

// Once passes each object once, since several files of a must-gather contain the same object.
// Lists are always passed.
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

// Lists writes the objects of some kinds as lists of one item or none: a list states the
// kind of items that do not.
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
