package resolve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
)

// graph is an answer that can be drawn.
type graph interface {
	WriteDOT(w io.Writer) error
	WriteMermaid(w io.Writer) error
}

// print writes an answer in the requested format.
func (c *command) print(w io.Writer, value any, drawing graph, text func(b *bytes.Buffer)) error {
	switch c.format {
	case "json":
		return printJSON(w, value)
	case "dot":
		return drawing.WriteDOT(w)
	case "mermaid":
		return drawing.WriteMermaid(w)
	}
	var b bytes.Buffer
	text(&b)
	_, err := w.Write(b.Bytes())
	return err
}

// printResolution prints what is chosen, or why if there is an explanation. update
// is nil unless only some packages had to be updated.
func (c *command) printResolution(w io.Writer, res *olm.Resolution, update *olm.Update, x *olm.Explanation) error {
	if x != nil {
		return c.print(w, x, x, func(b *bytes.Buffer) { _ = x.WriteAll(b) }) // a buffer never fails
	}
	var value any = res
	if update != nil {
		value = update
	}
	return c.print(w, value, res, func(b *bytes.Buffer) {
		if len(res.Chosen) == 0 {
			fmt.Fprintln(b, "nothing to do")
		}
		for i := range res.Chosen {
			printChoice(b, &res.Chosen[i])
		}
		for _, s := range res.Subscriptions {
			printWhy(b, &s)
		}
		if update != nil {
			for _, m := range update.Moved {
				words.Fprintf(b, "%s moves to %s: %s %s\n", m.From, m.To, m.From, m.Why)
			}
		}
		for _, warning := range res.Warnings {
			words.Fprintf(b, "warning: %s: %s\n", warning.Subject, warning.Text)
		}
	})
}

// printWhy explains why a subscription does not get the head of its channel.
func printWhy(b *bytes.Buffer, s *olm.Outcome) {
	if len(s.Why) == 0 {
		return
	}
	head := ""
	if s.Head != "" && s.Head != s.Operator {
		head = ", not the head " + s.Head
	}
	words.Fprintf(b, "subscription %s: %s%s, because\n", s.Subscription, s.Operator, head)
	for _, why := range s.Why {
		words.Fprintf(b, "  %s\n", why)
	}
}

func (c *command) printPath(w io.Writer, p *olm.Path) error {
	return c.print(w, p, p, func(b *bytes.Buffer) {
		if len(p.Hops) == 0 {
			fmt.Fprintln(b, "nothing to do")
		}
		printHops(b, p)
	})
}

func printHops(b *bytes.Buffer, p *olm.Path) {
	for i, h := range p.Hops {
		fmt.Fprintf(b, "hop %d\n", i+1)
		for _, c := range h.Chosen {
			text := "install " + c.Name
			if c.Updates != "" {
				text = "update " + c.Updates + " to " + c.Name
			}
			words.Fprintf(b, "  %s from channel %s of catalog %s\n", text, c.Channel, c.Source.Name)
		}
	}
}

// printDeadEnd explains why there is no path, and prints the nearest one.
func (c *command) printDeadEnd(w io.Writer, e *olm.PathError) error {
	return c.print(w, e, e.Nearest, func(b *bytes.Buffer) {
		for _, d := range e.Dead {
			words.Fprintf(b, "no path leads to %s\n  %s\n", d.Target, d.Why)
			if d.Reached != "" {
				words.Fprintf(b, "  the nearest reachable one is %s\n", d.Reached)
			}
		}
		printHops(b, e.Nearest)
	})
}

func printChoice(b *bytes.Buffer, c *olm.Choice) {
	words.Fprintf(b, "%s from catalog %s\n", c.Candidate, c.Source.Name)
	if len(c.Subscriptions) > 0 {
		words.Fprintf(b, "  for subscription %s\n", strings.Join(c.Subscriptions, ", "))
	}
	if c.Updates != "" {
		words.Fprintf(b, "  updates %s\n", c.Updates)
	}
	for _, r := range c.RequiredBy {
		words.Fprintf(b, "  required by %s: %s\n", r.Operator, r.Text)
	}
}

func (c *command) printUnsatisfiable(w io.Writer, x *olm.Explanation) error {
	value := struct {
		Unsatisfiable bool             `json:"unsatisfiable"`
		Explanation   *olm.Explanation `json:"explanation"`
	}{true, x}
	return c.print(w, value, x, func(b *bytes.Buffer) {
		if c.explain {
			_ = x.WriteAll(b) // a buffer never fails
			return
		}
		_ = x.WriteText(b)
	})
}

// printChannel prints that a channel that a subscription follows has no single order.
func (c *command) printChannel(w io.Writer, err error, e *olm.ChannelError) error {
	value := struct {
		Channel string   `json:"channel"` // that has no single order
		Package string   `json:"package"`
		Catalog string   `json:"catalog"`
		Heads   []string `json:"heads,omitempty"`
		Problem string   `json:"problem"`
	}{e.Channel, e.Package, e.Source.String(), e.Heads, err.Error()}
	if c.format != "json" {
		_, err := words.Fprintf(w, "no solution: %s\n", err)
		return err
	}
	return printJSON(w, value)
}

func (c *command) printRejections(w io.Writer, found []olm.Rejection) error {
	return c.print(w, append([]olm.Rejection{}, found...), nil, func(b *bytes.Buffer) {
		for _, j := range found {
			why := j.Why
			if j.Chosen {
				why = "is chosen"
			}
			words.Fprintf(b, "%s from catalog %s %s\n", j.Candidate, j.Source.Name, why)
		}
		if len(found) == 0 {
			words.Fprintf(b, "no catalog has a bundle named %s\n", c.whyNot)
		}
	})
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
