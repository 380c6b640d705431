package main

import (
	"bufio"
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
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/doc"
)

func statusCommand() *args.Command {
	return &args.Command{
		Name:  "status",
		Usage: "PREFIX [-now TIME] [-o text|json]",
		About: "tell how far the update of a dumped cluster is, and what stands in its way",
		Help: `PREFIX stands for files of a cluster, each of which kubectl get -o yaml prints:
  PREFIX-cv.yaml     the ClusterVersion; the others may be missing
  PREFIX-co.yaml     the ClusterOperators
  PREFIX-mcp.yaml    the MachineConfigPools, and -mc.yaml the MachineConfigs
  PREFIX-node.yaml   the Nodes
  -now TIME          when the files were written; without, the latest instant in them`,
		Run: status,
	}
}

func status(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	var now time.Time
	c.Flags.Func("now", "", func(s string) (err error) {
		if now, err = time.Parse(time.RFC3339, s); err != nil {
			return errors.New("write an instant such as 2026-03-01T12:00:00Z")
		}
		return nil
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
	return printStatus(c.Stdout, r)
}

// The files of a dump: PREFIX-cv.yaml is needed, the others may be missing.
func readDump(prefix string) (*cvo.Dump, error) {
	d := &cvo.Dump{Configs: map[string]string{}}
	for _, part := range []struct {
		suffix, kind string
		read         func(json.RawMessage) error
	}{
		{"cv", "ClusterVersion", func(m json.RawMessage) error {
			d.Version = new(cvo.ClusterVersion)
			return json.Unmarshal(m, d.Version)
		}},
		{"co", "ClusterOperator", add(&d.Operators)},
		{"mcp", "MachineConfigPool", add(&d.Pools)},
		{"node", "Node", add(&d.Nodes)},
		{"mc", "MachineConfig", func(m json.RawMessage) error {
			var config struct {
				Metadata cvo.ObjectMeta `json:"metadata"`
			}
			err := json.Unmarshal(m, &config)
			d.Configs[config.Metadata.Name] = config.Metadata.Annotations["machineconfiguration.openshift.io/release-image-version"]
			return err
		}},
	} {
		name := prefix + "-" + part.suffix + ".yaml"
		err := readItems(name, part.kind, part.read)
		switch {
		case errors.Is(err, fs.ErrNotExist) && part.suffix != "cv":
		case errors.Is(err, fs.ErrNotExist):
			return nil, unread(err, name, "PREFIX stands for the files PREFIX-cv.yaml with the ClusterVersion, and if they are there PREFIX-co.yaml, -mcp.yaml, -mc.yaml, -node.yaml and -alerts.json")
		case err != nil:
			return nil, err
		}
	}
	if d.Version == nil {
		return nil, fmt.Errorf("%s-cv.yaml: it holds no ClusterVersion; write what kubectl get clusterversion version -o yaml prints", prefix)
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

// readItems reads the objects of a file, which are of one kind, taking lists
// apart.
func readItems(name, kind string, read func(json.RawMessage) error) error {
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
			var is struct {
				Kind string `json:"kind"`
			}
			if err := json.Unmarshal(item, &is); err != nil || is.Kind != kind && (is.Kind != "" || list.Kind == "") {
				return fmt.Errorf("%s: it holds an object of kind %q; only such of kind %s belong there", d.Start, is.Kind, kind)
			}
			if err := read(item); err != nil {
				return fmt.Errorf("%s: %w", d.Start, err)
			}
		}
	}
}

func printStatus(to io.Writer, r *cvo.Report) error {
	w := bufio.NewWriter(to)
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
			text := fmt.Sprintf("operator %s: %s, %s, at %s: %s", o.Name, o.State, o.Health, o.Version, o.Reason)
			if o.Health == "healthy" { // else a finding tells it
				text += " " + firstLine(o.Message)
			}
			page.Fold(w, "  ", strings.TrimSuffix(strings.TrimSpace(text), ":"))
		}
	}
	for _, p := range r.Pools {
		if p.Total == 0 {
			fmt.Fprintf(w, "Pool %s: it has no nodes\n", p.Name)
			continue
		}
		fmt.Fprintf(w, "Pool %s: %s, %d of %d nodes updated, %d draining, %d degraded, %d down\n", p.Name, p.State, p.Updated, p.Total, p.Draining, p.Degraded, p.Down)
		for _, n := range r.Nodes {
			if n.Pool == p.Name && (n.Message != "" || n.State == "draining" || n.State == "updating" || n.State == "degraded") {
				page.Fold(w, "  ", strings.TrimSuffix(fmt.Sprintf("node %s: %s, %s", n.Name, n.State, firstLine(n.Message)), ", "))
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
		page.Fold(w, "  "+string(f.Severity)+": ", f.Message+since)
		if f.Owner != "" {
			page.Fold(w, "    owner: ", f.Owner)
		}
		page.Fold(w, "    next: ", f.Next)
	}
	return w.Flush()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
