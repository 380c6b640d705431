// Package reading gives every verb its snapshot of a cluster, from whatever people have.
package reading

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
)

// Source says where a call reads a cluster from, and when that was.
type Source struct {
	call                         *args.Call
	at                           time.Time
	context, kubeconfig, cluster string // of a running cluster
	namespace                    string // the one that is read of a running cluster; empty for all
	// Each is that of the [snapshot.Reader].
	Each func(*snapshot.Ref, []byte)
	// Informative says that the call reports what there is, so that something unread is
	// not a finding.
	Informative bool
	// Kinds are those that a running cluster is asked for; nil for all that any verb needs.
	Kinds []string
	// Definitions asks a running cluster for its CustomResourceDefinitions too.
	Definitions bool
	all         bool   // the lists are of all namespaces
	running     string // the running cluster that was read
	withheld    bool   // it refused something
}

// Declare declares the flags that every verb has which reads a cluster: -at, unless the verb
// has one of its own, and -v.
func Declare(c *args.Call) *Source {
	s := &Source{call: c}
	if c.Flags.Lookup("at") == nil {
		c.Shared += `  -at TIME  when the cluster was looked at, such as 2026-01-02T15:04:05Z; ages count from it (default: the
            latest time that a server wrote into the input)
`
		c.Flags.Func("at", "", func(text string) (err error) {
			if s.at, err = time.Parse(time.RFC3339, text); err != nil {
				return errors.New("write it like 2026-01-02T15:04:05Z")
			}
			return nil
		})
	}
	c.Shared += "  -A        the input is of all namespaces, even if a list of it has objects of one only, as in a new cluster\n"
	c.Flags.BoolVar(&s.all, "A", false, "")
	if c.Flags.Lookup("v") == nil {
		c.Shared += "  -v        list all of the input that could not be read\n"
		c.Flags.Bool("v", false, "")
	}
	s.declareLive()
	c.Shared = "every command that reads a cluster has these flags:\n" + strings.TrimSuffix(c.Shared, "\n")
	return s
}

// declareLive declares the flags of a running cluster.
func (s *Source) declareLive() {
	f := s.call.Flags
	if f.Lookup("kubeconfig") != nil { // a program with a client of its own
		return
	}
	f.StringVar(&s.context, "context", "", "")
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "")
	names := "-context NAME, -kubeconfig FILE"
	if f.Lookup("cluster") == nil {
		f.StringVar(&s.cluster, "cluster", "", "")
		names += ", -cluster NAME"
	}
	s.call.Shared += "  " + names + `
            read the running cluster, with oc or kubectl, which are only asked to get and list; so does a command
            on a terminal without FILE. Without a terminal it reads standard input
`
	if f.Lookup("namespace") != nil { // of a command that is about one
		return
	}
	f.StringVar(&s.namespace, "namespace", "", "")
	s.call.Shared += `  -namespace NAME
            of the running cluster, read what has a namespace in this one only, for an account that may read no
            other; what other namespaces have is unknown
`
}

// Read reads a cluster from a file, a directory, an archive, the files with a common prefix,
// or standard input for "-". Without a name it reads the running cluster, if a flag or a terminal
// says so, or else standard input. Problems that leave something unknown are summed up on standard
// error. The error is about what makes the whole unreadable.
func (s *Source) Read(name string) (*snapshot.Snapshot, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // most of what is read is not kept: a third less memory, for the same time
	r := snapshot.Reader{Each: s.Each, Everywhere: s.all}
	live, err := s.ReadInto(&r, name)
	if err != nil {
		return nil, err
	}
	out, err := r.Snapshot()
	if err != nil {
		return nil, err
	}
	if live {
		out.Clock = snapshot.Clock{At: time.Now().UTC().Truncate(time.Second), Source: "the clock of this machine"}
	}
	if out.Empty() && !live {
		if w := first(out); w != nil {
			return nil, errors.New(w.String())
		}
		return nil, s.Without(name, "it has no object of Kubernetes", "give it the output of kubectl get -o yaml or -o json, or an unpacked must-gather")
	}
	if !s.at.IsZero() {
		out.Clock = snapshot.Clock{At: s.at, Source: "-at"}
	}
	if out.Clock.Source != "" {
		s.call.Beside("clock", out.Clock)
	}
	s.say(out)
	return out, nil
}

// Without returns the error that a cluster, which was read from name, lacks what a call is about, and
// what to do then: for a running cluster, that the account may not see it.
func (s *Source) Without(name, lack, advice string) error {
	switch {
	case s.withheld:
		return fmt.Errorf("%s: %s that this account may list", s.running, lack)
	case s.running != "":
		return fmt.Errorf("%s: %s", s.running, lack)
	case name == "" || name == "-":
		name = "standard input"
	}
	return fmt.Errorf("%s: %s; %s", name, lack, advice)
}

// ReadInto reads a cluster like Read, into a reader of the caller; live says that it is a running one.
func (s *Source) ReadInto(r *snapshot.Reader, name string) (live bool, err error) {
	if name != "" && s.Asked() {
		return false, &args.UsageError{Text: name + ": -context, -kubeconfig, -cluster and -namespace read the running cluster: leave one out"}
	}
	if s.Running(name) {
		return true, s.live(r)
	}
	name = cmp.Or(name, "-")
	s.call.Doing("reading " + name)
	return false, s.read(r, name)
}

// Asked reports whether a flag names the running cluster.
func (s *Source) Asked() bool { return s.context+s.kubeconfig+s.cluster+s.namespace != "" }

// Running reports whether a running cluster is read for a name.
func (s *Source) Running(name string) bool {
	return name == "" && (s.Asked() || onTerminal(s.call.Stdin))
}

// Stored returns the source for a call's other cluster, which is none that runs.
func (s *Source) Stored() *Source {
	stored := *s
	stored.context, stored.kubeconfig, stored.cluster, stored.namespace = "", "", "", ""
	return &stored
}

// onTerminal reports whether somebody can type what a call reads.
func onTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	null, failed := os.Stat(os.DevNull)
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && (failed != nil || !os.SameFile(info, null))
}

// first returns the first warning about something that could not be read, or else about what is not
// an object.
func first(out *snapshot.Snapshot) (w *snapshot.Warning) {
	for i := range out.Warnings {
		if out.Warnings[i].Unread {
			return &out.Warnings[i]
		}
		if w == nil && out.Warnings[i].Foreign {
			w = &out.Warnings[i]
		}
	}
	return w
}

// parts are the ends of the names of files with a common prefix, and the kinds in them.
var parts = [][2]string{
	{"-cv.yaml", "ClusterVersion"}, {"-co.yaml", "ClusterOperator"}, {"-mcp.yaml", "MachineConfigPool"}, {"-mc.yaml", "MachineConfig"}, {"-node.yaml", "Node"},
	{"-alerts.json", "Alert"},
}

func (s *Source) read(r *snapshot.Reader, name string) error {
	info, err := os.Stat(name)
	switch {
	case name == "-":
		return r.Stream(s.call.Stdin, "standard input")
	case errors.Is(err, fs.ErrNotExist):
		if _, missing := os.Stat(name + parts[0][0]); missing != nil {
			_, err = os.Open(name)
			return err
		}
		return s.prefix(r, name)
	case err != nil:
		return err
	case info.IsDir():
		root, err := os.OpenRoot(name) // links do not lead out of it
		if err != nil {
			return err
		}
		defer root.Close()
		return r.FS(root.FS(), name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := r.Stream(f, name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s *Source) prefix(r *snapshot.Reader, name string) error {
	for _, part := range parts {
		f, err := os.Open(name + part[0])
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(r.StreamOf(part[1], f, name+part[0]), f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// found prints a warning, which is a finding: what could not be read is unknown.
func (s *Source) found(text string) {
	if s.Informative {
		words.Fprintf(s.call.Stderr, "warning: %s\n", text)
		return
	}
	s.call.Warn("%s", text)
}

// NotKnown writes what is not known, each with the command that lists it, and reports whether there
// is anything.
func NotKnown(to io.Writer, gaps []cvo.Gap) bool {
	for _, g := range gaps {
		page.Fold(to, "not known: ", g.What)
		words.Fprintf(to, "  to find out: %s\n", g.How)
	}
	return len(gaps) > 0
}

// mostUnread is how much that could not be read is in the JSON of a verb.
const mostUnread = 100

// say sums up what was odd: in three lines, or with -v in full.
func (s *Source) say(out *snapshot.Snapshot) {
	all := s.call.Flags.Lookup("v").Value.String() == "true"
	to := s.call.Stderr
	if narrowed := out.Narrowed(); all && narrowed != "" {
		words.Fprintf(to, "note: %s of the input are taken as those of one namespace only; with -A as all of the cluster\n", narrowed)
	}
	var unread []*snapshot.Warning
	for i := range out.Warnings {
		w := &out.Warnings[i]
		if w.Unread {
			unread = append(unread, w)
		}
		switch {
		case all && w.Unread:
			s.found(w.String())
		case all:
			words.Fprintf(to, "note: %s\n", w)
		}
	}
	if len(unread) > 0 {
		s.call.Beside("unread", unread[:min(len(unread), mostUnread)])
	}
	if all {
		if out.Files > 1 {
			fmt.Fprintf(to, "note: %d files were read\n", out.Files)
		}
		if out.Clock.Source != "" {
			words.Fprintf(to, "note: ages count from %s: %s\n", out.Clock.At.UTC().Format(time.RFC3339), out.Clock.Source)
		}
		return
	}
	if len(unread) > 0 {
		s.found(unread[0].String())
	}
	if len(unread) > 1 {
		s.found(fmt.Sprintf("%d more could not be read and count as unknown; -v lists them", len(unread)-1))
	}
	if out.Clock.Apart {
		fmt.Fprintln(to, "warning: the nodes were written at another time than the ClusterVersion; durations count to the last time in the latter")
	}
	if ahead := out.Clock.Ahead; len(ahead) > 0 {
		words.Fprintf(to, "warning: %s %s far ahead of all others and %s not used\n", words.Plural(len(ahead), "the clock of node", "the clocks of nodes")+" "+words.List(ahead, "and", 3), words.Plural(len(ahead), "is", "are"), words.Plural(len(ahead), "is", "are"))
	}
}
