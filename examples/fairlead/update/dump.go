package update

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/internal/dump"
)

// dumpHelp describes a dump.
const dumpHelp = `DIR is an unpacked must-gather, or a directory with the output of kubectl get -o yaml for ClusterVersions,
ClusterOperators, MachineConfigPools, MachineConfigs and Nodes, and a file alerts.json.
FILE holds such objects, and - is standard input.
PREFIX is the common beginning of these files:
  PREFIX-cv.yaml     the ClusterVersion; the others are optional
  PREFIX-co.yaml     the ClusterOperators
  PREFIX-mcp.yaml    the MachineConfigPools, and -mc.yaml the MachineConfigs
  PREFIX-node.yaml   the Nodes
  PREFIX-alerts.json the answer of Prometheus to /api/v1/alerts
`

// gathering is a dump that is being read.
type gathering struct {
	out   cvo.Dump
	seen  map[string]origin // objects, by kind and name
	parts []part
	acks  map[string]string
	found bool // something that says how far an update is

	mentions *regexp.Regexp // finds the kinds of a dump in a text
}

// origin is where an object was read.
type origin struct {
	file, uid, version string
	at                 int // its position in the list of its kind
}

// part is the objects of one kind in a dump.
type part struct {
	suffix, kind string
	put          func(o dump.Object, at int) error // at is the length of the list, or the position of the object to replace
	length       func() int
	begin        func() // records that the dump contains the part
}

func newGathering() *gathering {
	g := &gathering{seen: map[string]origin{}}
	d := &g.out
	g.parts = []part{
		{"cv", "ClusterVersion", func(o dump.Object, _ int) error {
			d.Version = new(cvo.ClusterVersion)
			return json.Unmarshal(o.JSON, d.Version)
		}, func() int { return 0 }, func() {}},
		listOf("co", "ClusterOperator", &d.Operators),
		listOf("mcp", "MachineConfigPool", &d.Pools),
		listOf("node", "Node", &d.Nodes),
		listOf("pod", "Pod", &d.Pods),
		listOf("pdb", "PodDisruptionBudget", &d.Budgets),
		{"cm", "ConfigMap", g.gates, func() int { return 0 }, func() {}},
		{"mc", "MachineConfig", func(o dump.Object, _ int) error {
			d.Configs[o.Meta.Name] = o.Meta.Annotations["machineconfiguration.openshift.io/release-image-version"]
			return nil
		}, func() int { return 0 }, func() {
			if d.Configs == nil {
				d.Configs = map[string]string{}
			}
		}},
	}
	var kinds []string
	for _, p := range g.parts {
		kinds = append(kinds, p.kind)
	}
	g.mentions = regexp.MustCompile(`\bkind["']?\s*:\s*["']?(` + strings.Join(kinds, "|") + `)(List)?\b`)
	return g
}

// gates reads the ConfigMaps of what administrators must acknowledge.
func (g *gathering) gates(o dump.Object, _ int) error {
	var x struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(o.JSON, &x); err != nil {
		return err
	}
	switch o.Meta.Name {
	case "admin-gates":
		g.out.Gates = &cvo.AdminGates{Gates: x.Data, Acks: g.acks}
	case "admin-acks":
		if g.acks = x.Data; g.out.Gates != nil {
			g.out.Gates.Acks = x.Data
		}
	}
	return nil
}

// listOf returns the part for a list.
func listOf[T any](suffix, kind string, list *[]T) part {
	return part{suffix, kind, func(o dump.Object, at int) error {
		var item T
		err := json.Unmarshal(o.JSON, &item)
		*list = append((*list)[:at], append([]T{item}, (*list)[min(at+1, len(*list)):]...)...)
		return err
	}, func() int { return len(*list) }, func() {
		if *list == nil {
			*list = []T{}
		}
	}}
}

// readDump reads the dump of a cluster: a file, standard input, all files of a directory, or
// the files with a common prefix.
func readDump(open func(string) (io.ReadCloser, error), name string) (*cvo.Dump, error) {
	g := newGathering()
	if info, err := os.Stat(name); name == "-" || err == nil && (info.IsDir() || info.Mode().IsRegular()) {
		return &g.out, g.files(open, name)
	}
	for _, p := range g.parts {
		file := name + "-" + p.suffix + ".yaml"
		text, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist) && p.suffix != "cv":
			continue
		case err != nil:
			return nil, unread(err, file, "PREFIX names the files PREFIX-cv.yaml with the ClusterVersion and, if they exist, PREFIX-co.yaml, -mcp.yaml, -mc.yaml, -node.yaml and -alerts.json; or name a file with objects, or a directory")
		}
		if err := g.read(text, file, p.kind); err != nil {
			return nil, err
		}
	}
	if g.out.Version == nil {
		return nil, fmt.Errorf("%s-cv.yaml: it contains no ClusterVersion; save the output of kubectl get clusterversion version -o yaml", name)
	}
	return &g.out, g.alerts(name + "-alerts.json")
}

// files reads all objects of the kinds of a dump in a file, or below a directory except those
// in namespaces: a must-gather contains many there. A file of a directory that mentions none of the
// kinds is not part of the dump.
func (g *gathering) files(open func(string) (io.ReadCloser, error), name string) error {
	count := 0
	err := dump.Files{
		Open: open,
		Read: func(src io.Reader, file string) error {
			count++
			text, err := io.ReadAll(src)
			if err != nil || file != name && !g.mentions.Match(text) {
				return err
			}
			if file == "-" {
				file = "standard input"
			}
			return g.read(text, file, "")
		},
		Alerts: g.alerts,
		Skip:   func(dir string) bool { return dir == "namespaces" },
	}.In(name)
	if err != nil || g.found {
		return err
	}
	const wanted = "ClusterVersion, ClusterOperator, MachineConfigPool, MachineConfig or Node"
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s: looked for a "+wanted+" in the files .yaml, .yml and .json below it (%d) and found none; name an unpacked must-gather, "+
			"or a directory with the output of kubectl get -o yaml: kubectl get clusterversion version -o yaml > DIR/cv.yaml, and so on", name, count)
	}
	if name == "-" {
		name = "standard input"
	}
	return fmt.Errorf("%s: it contains no "+wanted+"; save the output of: kubectl get clusterversions,clusteroperators,machineconfigpools,machineconfigs,nodes -o yaml", name)
}

// read reads a file: only objects of a kind, or if it is empty, all that belong to a dump.
// An object in several files, as in a must-gather, counts once.
func (g *gathering) read(text []byte, file, only string) error {
	return dump.Read(bytes.NewReader(text), file, func(o dump.Object) error {
		o.Kind = cmp.Or(o.Kind, only) // items of a List may lack it
		if at := dump.Latest(o.JSON); at.After(g.out.At) {
			g.out.At = at
		}
		kind := strings.TrimSuffix(o.Kind, "List")
		for _, p := range g.parts {
			if p.kind == kind && (only == "" || only == kind) {
				p.begin() // the list may be empty
				if kind != o.Kind {
					return nil
				}
				return g.take(&p, o, file)
			}
		}
		if only == "" || o.Kind == "List" {
			return nil
		}
		return fmt.Errorf("it contains an object of kind %q; only objects of kind %s belong there", o.Kind, only)
	})
}

// take adds an object, or keeps the newer one if it was read before.
func (g *gathering) take(p *part, o dump.Object, file string) error {
	is := origin{file, o.Meta.UID, o.Meta.ResourceVersion, p.length()}
	key := p.kind + "/" + o.Meta.Namespace + "/" + o.Meta.Name
	before, known := g.seen[key]
	if known {
		if before.uid != is.uid && before.uid != "" && is.uid != "" {
			return fmt.Errorf("there is another one of that name in %s, with another UID; name the directory of one cluster", before.file)
		}
		if is.at = before.at; !newer(is.version, before.version) {
			return nil
		}
	}
	g.seen[key] = is
	g.found = g.found || !slices.Contains([]string{"pod", "pdb", "cm"}, p.suffix) // those say nothing alone
	return p.put(o, is.at)
}

// newer compares resource versions of one object, which are numbers.
func newer(a, b string) bool {
	x, err := strconv.ParseUint(a, 10, 64)
	y, failed := strconv.ParseUint(b, 10, 64)
	return err == nil && failed == nil && x > y
}

// alerts reads alerts.
func (g *gathering) alerts(file string) (err error) {
	g.out.Alerts, err = dump.AddAlerts(g.out.Alerts, file)
	return err
}
