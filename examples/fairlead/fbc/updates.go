package fbc

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/draw"
	"github.com/fairlead/fairlead/catalog/release"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm/reach"
)

func graph(c *call) error {
	format := c.Choice("o", "mermaid", "dot", "svg")
	channels := c.Words("channel")
	if err := c.Parse(2, 2); err != nil {
		return err
	}
	cat, p, err := c.openPackage()
	if err != nil {
		return err
	}
	picture := map[string]func(context.Context, io.Writer, *catalog.Package, *draw.Options) error{"mermaid": draw.Mermaid, "dot": draw.DOT, "svg": draw.SVG}[*format]
	var out bytes.Buffer
	if err := picture(c.Context, &out, p, &draw.Options{Channels: *channels}); err != nil {
		return err
	}
	if *format == "mermaid" && out.Len() > mermaidMost {
		fmt.Fprintf(c.Stderr, "note: the text has %d characters, and Mermaid draws at most %d unless maxTextSize is raised; draw one channel with -channel, or use -o svg\n", out.Len(), mermaidMost)
	}
	if _, err := c.Stdout.Write(out.Bytes()); err != nil {
		return err
	}
	return sound(cat, p.Name())
}

// mermaidMost is the default of Mermaid's maxTextSize.
const mermaidMost = 50_000

func path(c *call) error {
	only := c.Flags.String("channel", "", "")
	rules := c.rules()
	if err := c.Parse(4, 4); err != nil {
		return err
	}
	cat, p, err := c.openPackage()
	if err != nil {
		return err
	}
	channels := channelsOf(p, *only)
	if len(channels) == 0 {
		return fmt.Errorf("package %s has no channel %q", p.Name(), *only)
	}
	user, unlisted := installed(p, c.Arg(2))
	graph := func(ch *catalog.Channel) *catalog.Graph {
		if unlisted {
			return ch.GraphWith(rules(), user)
		}
		return ch.Graph(rules())
	}
	for _, ch := range channels {
		if c.Context.Err() != nil {
			return context.Cause(c.Context)
		}
		g := graph(ch)
		from, ok1 := g.Find(user.Name)
		to, ok2 := g.Find(c.Arg(3))
		if way, ok := g.Path(from, to); ok && ok1 && ok2 {
			words.Fprintf(c.Stdout, "in channel %s:\n  %s%s\n", ch.Name(), from, map[bool]string{true: " (not in the catalog)"}[unlisted])
			for _, e := range way {
				words.Fprintf(c.Stdout, "  -> %s (%s)\n", e.To, e.Kind)
			}
			return sound(cat, p.Name())
		}
	}
	if *only == "" {
		if ok, err := c.across(p, rules()); ok || err != nil {
			return cmp.Or(err, sound(cat, p.Name()))
		}
	}
	if err := sound(cat, p.Name()); err != nil {
		words.Fprintf(c.Stdout, "whether updates lead from %s to %s is not known: a part of package %s cannot be read\n", c.Arg(2), c.Arg(3), p.Name())
		return err
	}
	// Do not report that a channel lacks the goal if another one has it.
	lacks := func(ch *catalog.Channel) bool {
		g := graph(ch)
		name, ok := g.Find(c.Arg(3))
		return !ok || !g.Has(name)
	}
	if near := slices.DeleteFunc(slices.Clone(channels), lacks); len(near) > 0 {
		channels = near
	}
	for _, ch := range channels {
		words.Fprintf(c.Stdout, "in channel %s: %s\n", ch.Name(), graph(ch).WhyNot(user.Name, c.Arg(3)))
	}
	return args.ErrFindings
}

// installed returns what a user has who names a bundle or version, and whether that is in no
// channel and no bundle of the package: it may have been removed, or never been listed, and
// skipRanges may reach it nevertheless.
func installed(p *catalog.Package, named string) (user catalog.Installed, unlisted bool) {
	for ch := range p.Channels() {
		if name, ok := ch.Graph(catalog.OLMv1).Find(named); ok {
			user.Name = name
			if p.Version(name) != "" {
				return catalog.Installed{Name: named}, false
			}
		}
	}
	version := named
	for _, prefix := range []string{p.Name(), ".", "-", "v"} {
		version = strings.TrimPrefix(version, prefix)
	}
	if !catalog.IsVersion(version) {
		return catalog.Installed{Name: named}, false
	}
	name := cmp.Or(user.Name, named)
	if name == version {
		name = p.Name() + ".v" + version
	}
	return catalog.Installed{Name: name, Version: version}, true
}

// across prints the path with the fewest channel changes, if there is one.
func (c *call) across(p *catalog.Package, rules catalog.Rules) (bool, error) {
	find := func(text string) string {
		for ch := range p.Channels() {
			if name, ok := ch.Graph(rules).Find(text); ok {
				return name
			}
		}
		return text
	}
	from := find(c.Arg(2))
	way, ok, err := p.Route(c.Context, rules, "", from, find(c.Arg(3)))
	in := ""
	for i, h := range way {
		if h.Channel != in {
			words.Fprintf(c.Stdout, "%s %s:\n", map[bool]string{true: "in channel", false: "change to channel"}[i == 0], h.Channel)
			in = h.Channel
		}
		if i == 0 {
			words.Fprintf(c.Stdout, "  %s\n", from)
		}
		words.Fprintf(c.Stdout, "  -> %s (%s)\n", h.To, h.Kind)
	}
	return ok, err
}

// rules declares the flag -rules and returns a function for its value.
func (c *call) rules() func() catalog.Rules {
	name := c.Choice("rules", "v0", "v1")
	return func() catalog.Rules {
		if *name == "v1" {
			return catalog.OLMv1
		}
		return catalog.OLMv0
	}
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

func compare(c *call) error {
	format := c.Choice("o", "text", "json")
	fix, show := c.Flags.Bool("fix", false, ""), c.Flags.Bool("n", false, "")
	if err := c.Parse(2, 2); err != nil {
		return err
	}
	before, err := c.open(c.Arg(0))
	if err != nil {
		return err
	}
	if *fix || *show {
		return c.helpStranded(before, *show)
	}
	after, err := c.open(c.Arg(1))
	if err != nil {
		return err
	}
	c.Doing("comparing")
	d, err := diff.Compare(c.Context, before, after, nil)
	if err != nil {
		return err
	}
	if *format == "json" {
		err = d.WriteJSON(c.Stdout)
	} else {
		err = d.WriteText(c.Stdout)
	}
	if err == nil && d.Stranded() > 0 {
		err = args.ErrFindings
	}
	return err
}

// helpStranded makes or shows the edit of the new catalog that restores the upgrade
// path of stranded users of the old one.
func (c *call) helpStranded(before *catalog.Catalog, show bool) error {
	after, err := c.source(c.Arg(1))
	if err != nil {
		return err
	}
	c.Doing("checking updates")
	report, err := release.Evaluate(c.Context, before, after, &release.Options{Resolver: &reach.Resolver{}, Breaks: reach.Breaks})
	if err != nil {
		return err
	}
	if report.Patch != nil {
		if err := c.apply(c.Arg(1), after, report.Patch, show); err != nil {
			return err
		}
	}
	for _, f := range report.Fixes {
		words.Fprintf(c.Stderr, "fixed: %s\n", f)
	}
	for _, left := range report.Left {
		words.Fprintf(c.Stderr, "left: %s\n", left)
	}
	if len(report.Left) > 0 {
		return args.ErrFindings
	}
	return nil
}
