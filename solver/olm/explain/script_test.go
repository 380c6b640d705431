package explain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver/olm/explain"
	"github.com/fairlead/fairlead/solver/olm/group"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scenarios of testdata. The input of a command is objects, a
// YAML document a line, which come to those given or take the place of those of the
// same kind and name. The commands:
//
//	given                objects of all commands that follow; "given none" forgets them
//	operators            all views
//	KIND [NS/]NAME       one view
//	uninstall, refresh NS/NAME   dry runs
//	blocking from=VERSION [to=VERSION]   what blocks an update of the cluster
//	odd                  what has another shape than in the API
//
// Arguments: answer=(CSV,SUBSCRIPTION[,UPDATES]) is what resolution chooses,
// modes=(...) the install modes of that, refused=TEXT that it chooses nothing;
// without=KIND drops the given objects of a kind; known=(KIND...); extension of a
// view: next=, path=(...), refusal=TEXT; now=DURATION is when the cluster was looked
// at, after 12:00.
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		s := &script{t: t, words: words}
		return s.command
	})
}

type script struct {
	t     *testing.T
	words *golden.Words
	given []object
}

type object struct {
	id, kind string
	text     []byte
}

func (s *script) read(c *golden.Command) []object {
	var all []object
	for line := range strings.Lines(c.Input) {
		r := doc.NewReader(strings.NewReader(line), c.Pos, doc.Limits{})
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			continue
		}
		if err != nil {
			s.t.Fatalf("%s: %v", c.Pos, err)
		}
		var head struct {
			Kind     string
			Metadata explain.ObjectMeta
		}
		_ = json.Unmarshal(d.JSON, &head) // what is odd stays empty
		all = append(all, object{head.Kind + " " + head.Metadata.String(), head.Kind, d.JSON})
	}
	return all
}

func (s *script) cluster(c *golden.Command) (*explain.Cluster, []string) {
	all := s.given
	var out explain.Cluster
	var odd []string
	added := s.read(c)
	for _, o := range added {
		all = without(all, func(x object) bool { return x.id == o.id })
	}
	for _, kind := range c.Values("without") {
		all = without(all, func(x object) bool { return x.kind == kind })
	}
	for _, o := range append(all[:len(all):len(all)], added...) {
		more, err := out.Add(o.kind, o.text)
		if err != nil {
			odd = append(odd, "error: "+err.Error())
		}
		odd = append(odd, more...)
	}
	for _, k := range c.Values("known") {
		out.Kinds = append(out.Kinds, explain.Kind(k))
	}
	if c.Has("now") {
		now, err := time.ParseDuration(c.Value("now"))
		if err != nil {
			s.t.Fatalf("%s: %v", c.Pos, err)
		}
		out.Now = start.Add(now)
	}
	s.answer(c, &out)
	for i := range out.Extensions {
		x := &out.Extensions[i]
		x.Next, x.Path, x.PathChannel, x.Refused = c.Value("next"), c.Values("path"), c.Value("path-channel"), c.Value("refusal")
		x.NoWay = c.Has("no-way")
	}
	return &out, odd
}

func (s *script) answer(c *golden.Command, out *explain.Cluster) {
	if v := c.Values("answer"); v != nil {
		n := explain.Next{CSV: v[0], Subscriptions: v[1:2], ModesKnown: c.Has("modes")}
		if len(v) > 2 {
			n.Updates = v[2]
		}
		for _, m := range c.Values("modes") {
			n.Modes = append(n.Modes, group.InstallMode{Type: group.InstallModeType(m + "Namespace"), Supported: true})
			if m == "All" {
				n.Modes[len(n.Modes)-1].Type = group.ModeAllNamespaces
			}
		}
		n.Deprecated = c.Values("deprecated")
		n.MaxOpenShift = c.Value("max")
		out.Answers = map[string]*explain.Answer{"ns": {Next: []explain.Next{n}}}
	}
	if v := c.Values("refused"); v != nil {
		out.Answers = map[string]*explain.Answer{"ns": {Refused: v}}
	}
}

func without(all []object, gone func(object) bool) []object {
	var kept []object
	for _, o := range all {
		if !gone(o) {
			kept = append(kept, o)
		}
	}
	return kept
}

func (s *script) command(c *golden.Command) string {
	if c.Name == "given" {
		if c.Has("none") {
			s.given = nil
		}
		s.given = append(s.given, s.read(c)...)
		return "ok"
	}
	cluster, odd := s.cluster(c)
	var views []*explain.View
	name := ""
	if len(c.Args) > 0 && len(c.Args[0].Values) == 0 {
		name = c.Args[0].Key
	}
	ns, rest, ok := strings.Cut(name, "/")
	if !ok {
		ns, rest = "", name
	}
	switch c.Name {
	case "odd":
		return strings.Join(odd, "\n")
	case "uninstall":
		return s.removal(cluster.Uninstall(ns, rest))
	case "refresh":
		return s.removal(cluster.Refresh(ns, rest))
	case "blocking":
		var err error
		if views, err = cluster.Blocking(c.Value("from"), c.Value("to")); err != nil {
			return "error" + s.words.Data("Error", err.Error())
		}
	case "operators":
		views = cluster.Operators()
	case "subscription":
		views = append(views, cluster.Subscription(ns, rest))
	case "csv":
		views = append(views, cluster.CSV(ns, rest))
	case "installplan":
		views = append(views, cluster.InstallPlan(ns, rest))
	case "catalogsource":
		views = append(views, cluster.CatalogSource(ns, rest))
	case "extension":
		views = append(views, cluster.Extension(rest))
	default:
		s.t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
	}
	var b strings.Builder
	for _, v := range views {
		s.print(&b, v)
	}
	return b.String()
}

func (s *script) removal(r *explain.Removal, err error) string {
	if err != nil {
		return "error" + s.words.Data("Error", err.Error())
	}
	var b strings.Builder
	for _, d := range r.Dependents {
		fmt.Fprintf(&b, "%s requires %s\n", d.Operator, strings.Join(d.Requires, ", "))
	}
	for _, w := range r.Waits {
		fmt.Fprintf(&b, "%s\n", s.words.Block(w.Block, start))
	}
	for _, part := range []struct {
		name  string
		steps []explain.RemovalStep
	}{{"before", r.Before}, {"step", r.Steps}, {"after", r.After}, {"stays", r.Stays}} {
		for _, x := range part.steps {
			fmt.Fprintf(&b, "%s %s%s\n    %s\n", part.name, x.Object, s.words.Data(part.name, x.Why), x.Command)
		}
	}
	if r.String() == "" {
		s.t.Error("a dry run has no text")
	}
	return b.String()
}

func (s *script) print(b *strings.Builder, v *explain.View) {
	if v == nil {
		b.WriteString("there is none\n")
		return
	}
	fmt.Fprintf(b, "%s blocked=%v installed=%q next=%q", v.Subject(), v.Blocked(), v.Installed, v.Next)
	fmt.Fprintf(b, "%s\n", s.words.Data("phase", v.Phase))
	for _, w := range v.Waits {
		fmt.Fprintf(b, "  %s", s.words.Block(w.Block, start))
		if w.Passing {
			b.WriteString(" passing")
		}
		if w.Unknown {
			b.WriteString(" unknown")
		}
		b.WriteString("\n")
		for _, line := range w.Commands {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	for _, n := range v.Notes {
		fmt.Fprintf(b, "  note%s\n", s.words.Data("note", n))
	}
	if len(v.String()) == 0 {
		s.t.Error("a view has no text")
	}
}
