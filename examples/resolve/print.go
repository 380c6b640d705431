package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

func (c *command) printResolution(w io.Writer, res *olm.Resolution) error {
	if c.json {
		return printJSON(w, res)
	}
	var b bytes.Buffer
	if len(res.Chosen) == 0 {
		fmt.Fprintln(&b, "nothing to do")
	}
	for i := range res.Chosen {
		printChoice(&b, &res.Chosen[i])
	}
	for _, s := range res.Subscriptions {
		if len(s.Why) == 0 {
			continue
		}
		head := ""
		if s.Head != "" && s.Head != s.Operator {
			head = ", not the head " + s.Head
		}
		fmt.Fprintf(&b, "subscription %s: %s%s, because\n", s.Subscription, s.Operator, head)
		for _, why := range s.Why {
			fmt.Fprintf(&b, "  %s\n", why)
		}
	}
	for _, warning := range res.Warnings {
		fmt.Fprintf(&b, "warning: %s: %s\n", warning.Subject, warning.Text)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func printChoice(b *bytes.Buffer, c *olm.Choice) {
	fmt.Fprintf(b, "%s from catalog %s\n", c.Candidate, c.Source.Name)
	if len(c.Subscriptions) > 0 {
		fmt.Fprintf(b, "  for subscription %s\n", strings.Join(c.Subscriptions, ", "))
	}
	if c.Updates != "" {
		fmt.Fprintf(b, "  updates %s\n", c.Updates)
	}
	for _, r := range c.RequiredBy {
		fmt.Fprintf(b, "  required by %s: %s\n", r.Operator, r.Text)
	}
}

func (c *command) printUnsatisfiable(w io.Writer, x *olm.Explanation) error {
	if c.json {
		return printJSON(w, struct {
			Unsatisfiable bool             `json:"unsatisfiable"`
			Explanation   *olm.Explanation `json:"explanation"`
		}{true, x})
	}
	return x.WriteText(w)
}

func (c *command) printRejections(w io.Writer, found []olm.Rejection) error {
	if c.json {
		return printJSON(w, append([]olm.Rejection{}, found...))
	}
	var b bytes.Buffer
	for _, j := range found {
		why := j.Why
		if j.Chosen {
			why = "is chosen"
		}
		fmt.Fprintf(&b, "%s from catalog %s %s\n", j.Candidate, j.Source.Name, why)
	}
	if len(found) == 0 {
		fmt.Fprintf(&b, "no catalog has a bundle named %s\n", c.whyNot)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
