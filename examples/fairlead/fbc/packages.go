package fbc

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/packages"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

// sourceFlags declares the flags for the catalog source that a catalog represents.
func (c *call) sourceFlags() *packages.Source {
	from := &packages.Source{}
	c.Flags.StringVar(&from.Name, "name", "catalog", "")
	c.Flags.StringVar(&from.Namespace, "namespace", "olm", "")
	return from
}

// packageManifest shows the packages of a catalog as a cluster does.
func packageManifest(c *call) error {
	format := c.Choice("o", "text", "json", "yaml")
	from := c.sourceFlags()
	if err := c.Parse(1, 2); err != nil {
		return err
	}
	cat, err := c.openSound(c.Arg(0))
	if err != nil {
		return err
	}
	var list *packages.PackageManifestList
	var without []packages.Omission
	var shown any
	if name := c.Arg(1); name == "" {
		if list, without, err = packages.List(c.Context, cat, from); err != nil {
			return err
		}
		shown = list
	} else {
		p, err := pkg(cat, name)
		if err != nil {
			return err
		}
		list = &packages.PackageManifestList{}
		m, omitted, err := packages.Of(p, from)
		if err != nil {
			return err
		}
		if without = omitted; m != nil {
			list.Items, shown = append(list.Items, *m), m
		}
	}
	for _, o := range without {
		fmt.Fprintf(c.Stderr, "package %s", o.Package)
		if o.Channel != "" {
			fmt.Fprintf(c.Stderr, ", channel %s", o.Channel)
		}
		words.Fprintf(c.Stderr, ": %s\n", o.Why)
	}
	if err := c.showManifests(*format, list, shown); err != nil {
		return err
	}
	if len(without) > 0 {
		return args.ErrFindings
	}
	return sound(cat, c.Arg(1))
}

// showManifests prints views: a table of the list, or the single view or the list as
// a document; nothing if there is none.
func (c *call) showManifests(format string, list *packages.PackageManifestList, shown any) error {
	if format != "text" {
		if shown == nil {
			return nil
		}
		text, err := json.MarshalIndent(shown, "", "  ")
		if err != nil {
			return err
		}
		if format == "yaml" {
			if text, err = catalog.YAML(text); err != nil {
				return err
			}
			_, err = c.Stdout.Write(text)
			return err
		}
		_, err = c.Stdout.Write(append(text, '\n'))
		return err
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tCATALOG\tDEFAULT CHANNEL\tCURRENT\tDEPRECATED")
	for _, m := range list.Items {
		current, deprecated := "", ""
		for _, ch := range m.Status.Channels {
			if ch.Name == m.Status.DefaultChannel {
				current = ch.CurrentCSV
			}
		}
		if m.Status.Deprecation != nil {
			deprecated = "yes"
		}
		words.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Name, m.Status.CatalogSource, m.Status.DefaultChannel, current, deprecated)
	}
	return w.Flush()
}
