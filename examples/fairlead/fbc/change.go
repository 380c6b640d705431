package fbc

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

// output contains the flags of commands that write a catalog.
type output struct {
	format *string
	dir    *string
}

func (c *call) output() output {
	return output{c.Choice("o", "json", "yaml", "jsonl"), c.Flags.String("to", "", "")}
}

// write writes a catalog to standard output or as files.
func (o output) write(c *call, cat *catalog.Catalog) error {
	format := map[string]catalog.Format{"json": catalog.FormatJSON, "yaml": catalog.FormatYAML, "jsonl": catalog.FormatLines}[*o.format]
	if *o.dir == "" {
		return cat.Write(c.Stdout, format)
	}
	if err := os.MkdirAll(*o.dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(*o.dir) // links and names do not lead out of it
	if err != nil {
		return err
	}
	defer root.Close()
	return cat.WriteTree(format, func(name string) (io.WriteCloser, error) {
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
		return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	})
}

func filter(c *call) error {
	packages, defaults := c.Words("package"), c.Words("default")
	newest := c.Flags.Int("newest", 0, "")
	alone := c.Flags.Bool("no-dependencies", false, "")
	out := c.output()
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	if *newest < 0 || len(*packages) == 0 && *newest == 0 {
		return &args.UsageError{Text: "choose what to keep: packages with -package, or the number of versions per channel with -newest"}
	}
	selections, err := selectionsOf(*packages, *defaults)
	if err != nil {
		return err
	}
	cat, err := c.openSound(c.Arg(0))
	if err != nil {
		return err
	}
	if len(selections) == 0 { // the newest of every package
		for p := range cat.Packages() {
			selections = append(selections, edit.Selection{Package: p.Name()})
		}
	}
	for i := range selections {
		selections[i].Newest = *newest
	}
	part, report, err := edit.Filter(c.Context, cat, selections, &edit.FilterOptions{NoDependencies: *alone})
	if err != nil {
		return err
	}
	for _, l := range []struct {
		what string
		list []edit.Change
	}{{"added", report.Added}, {"dropped", report.Dropped}, {"changed", report.Changed}, {"not in the catalog", report.Unmet}} {
		for _, change := range l.list {
			words.Fprintf(c.Stderr, "%s: %s\n", l.what, change)
		}
	}
	for p := range part.Packages() { // the output must not lack unreadable parts
		if err := sound(cat, p.Name()); err != nil {
			words.Fprintf(c.Stderr, "nothing is written: package %s may have documents that cannot be read\n", p.Name())
			return err
		}
	}
	return out.write(c, part)
}

// selectionsOf reads NAME[/CHANNEL,...][@RANGE] and NAME=CHANNEL.
func selectionsOf(packages, defaults []string) ([]edit.Selection, error) {
	var list []edit.Selection
	channelOf := map[string]string{}
	for _, d := range defaults {
		of, channel, ok := strings.Cut(d, "=")
		if !ok {
			return nil, &args.UsageError{Text: fmt.Sprintf("-default %s: write NAME=CHANNEL", d)}
		}
		channelOf[of] = channel
	}
	for _, text := range packages {
		var s edit.Selection
		what, versions, _ := strings.Cut(text, "@")
		name, channels, has := strings.Cut(what, "/")
		s.Package, s.Versions = name, versions
		if has {
			s.Channels = strings.Split(channels, ",")
		}
		s.DefaultChannel = channelOf[name]
		delete(channelOf, name)
		list = append(list, s)
	}
	if left := slices.Sorted(maps.Keys(channelOf)); len(left) > 0 {
		return nil, &args.UsageError{Text: fmt.Sprintf("-default %s=%s: no -package names %[1]s", left[0], channelOf[left[0]])}
	}
	return list, nil
}

func merge(c *call) error {
	prefer := c.Choice("prefer", "none", "first", "last")
	base := c.Flags.String("base", "", "")
	show := c.Flags.Bool("n", false, "")
	out := c.output()
	if err := c.Parse(1, 1000); err != nil {
		return err
	}
	opts := &edit.MergeOptions{Prefer: map[string]edit.Preference{"first": edit.PreferFirst, "last": edit.PreferLast}[*prefer]}
	if *base != "" {
		if len(c.Args) != 2 {
			return &args.UsageError{Text: "-base needs two catalogs: the one to change, and the one whose changes to apply"}
		}
		return c.pull(*base, c.Arg(0), c.Arg(1), opts, *show)
	}
	var catalogs []*catalog.Catalog
	for _, path := range c.Args {
		cat, err := c.open(path)
		if err != nil {
			return err
		}
		catalogs = append(catalogs, cat)
	}
	all, conflicts, err := edit.Merge(c.Context, opts, catalogs...)
	var disagree *edit.ConflictError
	if errors.As(err, &disagree) {
		conflicts = disagree.Conflicts
		err = args.ErrFindings
	}
	for _, conflict := range conflicts {
		words.Fprintf(c.Stderr, "%v\n", conflict)
	}
	if err != nil {
		return err
	}
	return out.write(c, all)
}

func convert(c *call) error {
	metadata := c.Flags.Bool("csv-metadata", false, "")
	out := c.output()
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	cat, err := c.open(c.Arg(0))
	if err != nil {
		return err
	}
	if *metadata {
		converted, kept, err := edit.ConvertObjects(c.Context, cat)
		if err != nil {
			return err
		}
		for _, change := range kept {
			words.Fprintf(c.Stderr, "not converted: %s\n", change)
		}
		cat = converted
	}
	return out.write(c, cat)
}
