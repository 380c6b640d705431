package resolution

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/solver/olm"
)

// document is a document of a catalog, of which only the names are read.
type document map[string]json.RawMessage

// multiply copies every package of a catalog from one directory to another under other
// names: packages, bundles and groups of APIs get a prefix.
func multiply(from, to, prefix string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		name = filepath.Join(to, prefix+filepath.ToSlash(filepath.Dir(name)), filepath.Base(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(name)
		if err != nil {
			return err
		}
		return errors.Join(rename(in, out, prefix), out.Close())
	})
}

// rename copies the documents of a file under other names.
func rename(in io.Reader, out io.Writer, prefix string) error {
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	for decoder := json.NewDecoder(bufio.NewReader(in)); ; {
		var d document
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return buffered.Flush()
		} else if err != nil {
			return err
		}
		if err := d.rename(prefix); err != nil {
			return err
		}
		if err := encoder.Encode(d); err != nil {
			return err
		}
	}
}

func (d document) rename(prefix string) error {
	var schema string
	if err := json.Unmarshal(d["schema"], &schema); err != nil {
		return err
	}
	texts := []string{"package"}
	if schema != "olm.channel" {
		texts = append(texts, "name")
	}
	for _, key := range texts {
		if err := change(d, key, func(s *string) error { *s = prefix + *s; return nil }); err != nil {
			return err
		}
	}
	if schema == "olm.channel" {
		return change(d, "entries", func(entries *[]document) error {
			for _, e := range *entries {
				if err := e.renameEntry(prefix); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return change(d, "properties", func(properties *[]document) error {
		for _, p := range *properties {
			if err := p.renameProperty(prefix); err != nil {
				return err
			}
		}
		return nil
	})
}

// renameEntry renames a channel's entry and what it updates.
func (d document) renameEntry(prefix string) error {
	for _, key := range []string{"name", "replaces"} {
		if err := change(d, key, func(s *string) error { *s = prefix + *s; return nil }); err != nil {
			return err
		}
	}
	return change(d, "skips", func(names *[]string) error {
		for i := range *names {
			(*names)[i] = prefix + (*names)[i]
		}
		return nil
	})
}

// renameProperty renames the package or the API group in a property. The payload,
// which is most of a catalog, is not changed.
func (d document) renameProperty(prefix string) error {
	var kind string
	if err := json.Unmarshal(d["type"], &kind); err != nil {
		return err
	}
	switch kind {
	case "olm.package", "olm.package.required", "olm.gvk", "olm.gvk.required":
		return change(d, "value", func(value *document) error {
			for _, key := range []string{"packageName", "group"} {
				if err := change(*value, key, func(s *string) error { *s = prefix + *s; return nil }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return nil
}

// change decodes a member if there is one, changes it with fn, and encodes it.
func change[T any](d document, key string, fn func(*T) error) error {
	raw, ok := d[key]
	if !ok {
		return nil
	}
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	if err := fn(&value); err != nil {
		return err
	}
	var err error
	d[key], err = json.Marshal(value)
	return err
}

// ReportScale measures both resolvers on one, two, four and eight copies of the real
// catalog, and writes a Markdown table. The requests are the same each time, and so is
// what they can reach. If the data is absent, the report says so.
func ReportScale(ctx context.Context, w io.Writer) error {
	dir, err := unpacked()
	if errors.Is(err, os.ErrNotExist) {
		_, err = fmt.Fprintf(w, "scale: skipped: %v\n\n", err)
		return err
	}
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, err := os.MkdirTemp("", "catalogs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(all)
	cost.Head(w, "catalog", "packages", "open and index: processor time", "peak memory",
		"fairlead, one subscription, first asked: median, 99th percentile", "asked again", "fifty, first asked", "asked again",
		"OLM, one subscription, every 20th: median, 99th percentile", "fifty")
	copies := 0
	for _, times := range []int{1, 2, 4, 8} {
		for ; copies < times; copies++ {
			if err := multiply(dir, all, fmt.Sprintf("x%d-", copies)); err != nil {
				return err
			}
		}
		if err := scaleRow(ctx, w, all, times); err != nil {
			return fmt.Errorf("%d times: %w", times, err)
		}
	}
	_, err = fmt.Fprintln(w)
	return err
}

func scaleRow(ctx context.Context, w io.Writer, dir string, times int) error {
	opened, err := cost.RunAll(ctx, 3, dir, "open")
	if err != nil {
		return err
	}
	b, err := newBoard(ctx, dir)
	if err != nil {
		return err
	}
	cases, err := goldenCases("fresh")
	if err != nil {
		return err
	}
	for i := range cases {
		for k := range cases[i].Subscriptions {
			cases[i].Subscriptions[k] = "x0-" + cases[i].Subscriptions[k]
		}
	}
	reqs, err := b.requests(cases)
	if err != nil {
		return err
	}
	one, err := b.compare(ctx, reqs, 20, 3)
	if err != nil {
		return err
	}
	req, err := fifty(ctx, b.ours, b.sources[0].Catalog)
	if err != nil {
		return err
	}
	many, err := b.compare(ctx, []*olm.Request{req}, 1, 9)
	if err != nil {
		return err
	}
	packages := 0
	for range b.sources[0].Catalog.Packages() {
		packages++
	}
	cost.Row(w, fmt.Sprintf("%d x", times), fmt.Sprint(packages), cost.Duration(opened[0].CPU), cost.Size(opened[0].Peak),
		one.first.String(), one.again.String(), cost.Duration(many.first.at(50)), cost.Duration(many.again.at(50)),
		one.theirs.String(), cost.Duration(many.theirs.at(50)))
	return nil
}
