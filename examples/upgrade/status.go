package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/doc"
)

func statusCommand() *args.Command {
	return &args.Command{
		Name:  "status",
		Usage: "PREFIX [-now TIME] [-o text|json]",
		About: "tell how far the update of a dumped cluster is, and what stands in its way",
		Run:   status,
	}
}

func status(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	var now time.Time
	c.Flags.Func("now", "", func(s string) (err error) {
		now, err = time.Parse(time.RFC3339, s)
		return err
	})
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	dump, err := readDump(c.Args[0])
	if err != nil {
		return err
	}
	r := cvo.Inspect(dump, now)
	if *form == "json" {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(r)
	}
	printStatus(c.Stdout, r)
	return nil
}

// The files of a dump: PREFIX-cv.yaml is needed, the others may be missing.
func readDump(prefix string) (*cvo.Dump, error) {
	d := &cvo.Dump{Configs: map[string]string{}}
	for _, part := range []struct {
		suffix string
		read   func(json.RawMessage) error
	}{
		{"cv", func(m json.RawMessage) error {
			d.Version = new(cvo.ClusterVersion)
			return json.Unmarshal(m, d.Version)
		}},
		{"co", add(&d.Operators)},
		{"mcp", add(&d.Pools)},
		{"node", add(&d.Nodes)},
		{"mc", func(m json.RawMessage) error {
			var config struct {
				Metadata cvo.ObjectMeta `json:"metadata"`
			}
			err := json.Unmarshal(m, &config)
			d.Configs[config.Metadata.Name] = config.Metadata.Annotations["machineconfiguration.openshift.io/release-image-version"]
			return err
		}},
	} {
		name := prefix + "-" + part.suffix + ".yaml"
		err := readItems(name, part.read)
		if err != nil && (part.suffix == "cv" || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	return d, nil
}

func add[T any](list *[]T) func(json.RawMessage) error {
	return func(m json.RawMessage) error {
		var item T
		err := json.Unmarshal(m, &item)
		*list = append(*list, item)
		return err
	}
}

// readItems reads the objects of a file, taking lists apart.
func readItems(name string, read func(json.RawMessage) error) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	in := doc.NewReader(bytes.NewReader(text), name, doc.Limits{})
	in.YAML11()
	for {
		d, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var list struct {
			Kind  string            `json:"kind"`
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(d.JSON, &list); err != nil {
			return fmt.Errorf("%s: %w", d.Start, err)
		}
		items := list.Items
		if list.Kind == "" || !strings.HasSuffix(list.Kind, "List") {
			items = []json.RawMessage{d.JSON}
		}
		for _, item := range items {
			if err := read(item); err != nil {
				return fmt.Errorf("%s: %w", d.Start, err)
			}
		}
	}
}

func printStatus(w io.Writer, r *cvo.Report) {
	from := r.From
	if r.Incomplete {
		from = "incomplete " + from
	}
	switch {
	case r.Target == "":
		fmt.Fprintln(w, "The cluster has no version yet.")
	case r.Updating:
		fmt.Fprintf(w, "Updating to %s (from %s) since %s: %d%% of the operators (%d updated, %d updating, %d waiting)\n",
			r.Target, from, r.Since.Format(time.RFC3339), r.Completion.Percent, r.Completion.Updated, r.Completion.Updating, r.Completion.Waiting)
	case r.Until != nil && from != "":
		fmt.Fprintf(w, "The control plane is at %s (from %s) since %s\n", r.Target, from, r.Until.Format(time.RFC3339))
	default:
		fmt.Fprintf(w, "The control plane is at %s\n", r.Target)
	}
	for _, o := range r.Operators {
		if o.State == "updating" || o.Health != "healthy" {
			fmt.Fprintf(w, "  operator %s: %s, %s, at %s: %s %s\n", o.Name, o.State, o.Health, o.Version, o.Reason, firstLine(o.Message))
		}
	}
	for _, p := range r.Pools {
		fmt.Fprintf(w, "Pool %s: %s, %d of %d nodes updated, %d draining, %d degraded, %d down\n", p.Name, p.State, p.Updated, p.Total, p.Draining, p.Degraded, p.Down)
		for _, n := range r.Nodes {
			if n.Pool == p.Name && (n.Message != "" || n.State == "draining" || n.State == "updating" || n.State == "degraded") {
				fmt.Fprintf(w, "  node %s: %s, %s\n", n.Name, n.State, firstLine(n.Message))
			}
		}
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(w, "What to look at:")
	}
	for _, f := range r.Findings {
		since := ""
		if !f.Since.IsZero() {
			since = " (since " + f.Since.Format(time.RFC3339) + ")"
		}
		fmt.Fprintf(w, "  %s: %s%s\n", f.Severity, f.Message, since)
		if f.Owner != "" {
			fmt.Fprintf(w, "    owner: %s\n", f.Owner)
		}
		fmt.Fprintf(w, "    next: %s\n", f.Next)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
