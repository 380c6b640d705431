package main

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

func graph(c *call) error {
	format := c.choice("o", "mermaid", "dot", "svg")
	channels := c.words("channel")
	if err := c.parse(2, 2); err != nil {
		return err
	}
	cat, err := c.open(c.arg(0))
	if err != nil {
		return err
	}
	p, err := pkg(cat, c.arg(1))
	if err != nil {
		return err
	}
	opts := &catalog.PictureOptions{Channels: *channels}
	switch *format {
	case "dot":
		return p.WriteDOT(c.stdout, opts)
	case "svg":
		return p.WriteSVG(c.stdout, opts)
	}
	return p.WriteMermaid(c.stdout, opts)
}

func path(c *call) error {
	only := c.flags.String("channel", "", "")
	if err := c.parse(4, 4); err != nil {
		return err
	}
	cat, err := c.open(c.arg(0))
	if err != nil {
		return err
	}
	p, err := pkg(cat, c.arg(1))
	if err != nil {
		return err
	}
	channels := channelsOf(p, *only)
	if len(channels) == 0 {
		return fmt.Errorf("package %s has no channel %q", p.Name(), *only)
	}
	for _, ch := range channels {
		g := ch.Graph()
		from, ok1 := g.Find(c.arg(2))
		to, ok2 := g.Find(c.arg(3))
		if way, ok := g.Path(from, to); ok && ok1 && ok2 {
			fmt.Fprintf(c.stdout, "in channel %s:\n  %s\n", ch.Name(), from)
			for _, e := range way {
				fmt.Fprintf(c.stdout, "  -> %s (%s)\n", e.To, e.Kind)
			}
			return nil
		}
	}
	// That a channel lacks the goal goes without saying if another one has it.
	lacks := func(ch *catalog.Channel) bool {
		_, ok := ch.Graph().Find(c.arg(3))
		return !ok
	}
	if near := slices.DeleteFunc(slices.Clone(channels), lacks); len(near) > 0 {
		channels = near
	}
	for _, ch := range channels {
		fmt.Fprintf(c.stdout, "in channel %s: %s\n", ch.Name(), ch.Graph().WhyNot(c.arg(2), c.arg(3)))
	}
	return errFindings
}

// channelsOf returns the channel of that name, or all with the default one
// first.
func channelsOf(p *catalog.Package, only string) []*catalog.Channel {
	var list []*catalog.Channel
	for ch := range p.Channels() {
		switch {
		case only != "" && ch.Name() != only:
		case ch.Name() == p.DefaultChannel():
			list = slices.Insert(list, 0, ch)
		default:
			list = append(list, ch)
		}
	}
	return list
}

func diff(c *call) error {
	format := c.choice("o", "text", "json")
	if err := c.parse(2, 2); err != nil {
		return err
	}
	before, err := c.open(c.arg(0))
	if err != nil {
		return err
	}
	after, err := c.open(c.arg(1))
	if err != nil {
		return err
	}
	d, err := catalog.Compare(c.ctx, before, after)
	if err != nil {
		return err
	}
	if *format == "json" {
		err = d.WriteJSON(c.stdout)
	} else {
		err = d.WriteText(c.stdout)
	}
	if err == nil && d.Stranded() > 0 {
		err = errFindings
	}
	return err
}
