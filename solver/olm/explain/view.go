package explain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// View is what is known of one object.
type View struct {
	Kind      Kind   `json:"kind"`                // of the object
	Namespace string `json:"namespace,omitempty"` // empty if it is cluster-scoped
	Name      string `json:"name"`                // of the object
	// Phase says where it stands, as in "not installed" or "Succeeded".
	Phase string `json:"phase"`
	// Installed and Next are the CSV or bundle that is there, and what OLM would
	// install next; empty for none, or if it is not known.
	Installed string `json:"installed,omitempty"`
	Next      string `json:"next,omitempty"` // see Installed
	// Waits are what it waits for, in the order in which OLM meets them: the first
	// one decides.
	Waits []Wait `json:"waits,omitempty"`
	// Notes are facts that block nothing, such as deprecations.
	Notes []string `json:"notes,omitempty"`
}

// Wait is what an object waits for.
type Wait struct {
	fairlead.Block
	// Commands help, or find out more, in this order. A shell runs them as printed.
	Commands []string `json:"commands,omitempty"`
	// Changes are what Commands change, if they do nothing else and help for certain.
	Changes []Change `json:"-"`
	// About is another object than the one that waits, if that is the one to repair.
	About *Object `json:"-"`
	// Passing says that it ends by itself: nobody has to do anything.
	Passing bool `json:"passing,omitempty"`
	// Unknown says that the wait rests on something that is not known.
	Unknown bool `json:"unknown,omitempty"`
}

// Object names an object.
type Object struct {
	Kind      Kind   // its kind
	Namespace string // empty if it has none
	Name      string // its name
}

// Blocked reports whether the object waits for something that does not end by
// itself, or for something that is not known.
func (v *View) Blocked() bool {
	return slices.ContainsFunc(v.Waits, func(w Wait) bool { return !w.Passing })
}

// Subject is the kind and the name, as in "subscription ns/name".
func (v *View) Subject() string {
	name := v.Name
	if v.Namespace != "" {
		name = v.Namespace + "/" + name
	}
	return strings.ToLower(string(v.Kind)) + " " + name
}

// Kinds are the kinds of objects that [Cluster.View] explains, as users write them.
func Kinds() []string {
	return []string{"subscription", "csv", "installplan", "catalogsource", "clusterextension"}
}

// View explains an object: its kind as in [Kinds], in any case, with or without a
// plural "s" and API group, and its name as NAMESPACE/NAME, or NAME alone for an
// extension and for what only one namespace has. It returns nil if there is no such object;
// known is false if there is no such kind.
func (c *Cluster) View(kind, name string) (v *View, known bool) {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	namespace, rest, ok := strings.Cut(name, "/")
	view := map[string]func(namespace, name string) *View{
		"subscription": c.Subscription, "sub": c.Subscription, "csv": c.CSV, "clusterserviceversion": c.CSV,
		"installplan": c.InstallPlan, "ip": c.InstallPlan, "catalogsource": c.CatalogSource, "catsrc": c.CatalogSource,
	}[strings.TrimSuffix(kind, "s")]
	switch {
	case view != nil && ok && rest != "":
		return view(namespace, rest), true
	case view != nil && !ok && name != "":
		if in := c.Within(kind, name); len(in) == 1 {
			return view(in[0], name), true
		}
		return nil, true
	case strings.TrimSuffix(kind, "s") == "clusterextension" || kind == "extension":
		return c.Extension(name), !ok
	}
	return nil, false
}

// Within returns the namespaces with an object of a kind and name, sorted.
func (c *Cluster) Within(kind, name string) (namespaces []string) {
	add := func(o *ObjectMeta) {
		if o.Name == name {
			namespaces = append(namespaces, o.Namespace)
		}
	}
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	switch strings.TrimSuffix(kind, "s") {
	case "subscription", "sub":
		for i := range c.Subscriptions {
			add(&c.Subscriptions[i].ObjectMeta)
		}
	case "csv", "clusterserviceversion":
		for i := range c.CSVs {
			if !c.CSVs[i].Copied() {
				add(&c.CSVs[i].ObjectMeta)
			}
		}
	case "installplan", "ip":
		for i := range c.Plans {
			add(&c.Plans[i].ObjectMeta)
		}
	case "catalogsource", "catsrc":
		for i := range c.Catalogs {
			add(&c.Catalogs[i].ObjectMeta)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// sortViews puts the blocked first, then those that wait, then the others; by
// kind, namespace and name.
func sortViews(all []*View) {
	rank := func(v *View) int {
		switch {
		case v.Blocked():
			return 0
		case len(v.Waits) > 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b *View) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(string(a.Kind), string(b.Kind)),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

// WriteText writes the view as a few lines: what it is, what it waits for and what
// helps, then notes. No name and no message begins a line, whatever it contains.
func (v *View) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, v.String())
	return err
}

// String is the text of WriteText.
func (v *View) String() string {
	var b strings.Builder
	state := v.Phase
	if v.Blocked() {
		state = "blocked, " + state
	}
	if v.Next != "" && v.Next != v.Installed {
		state += "; next " + v.Next
	}
	words.Fprintf(&b, "%s: %s\n", v.Subject(), state)
	for i := range v.Waits {
		v.Waits[i].write(&b)
	}
	for _, n := range v.Notes {
		words.Fprintf(&b, "  note: %s\n", n)
	}
	return b.String()
}

func (w *Wait) write(b *strings.Builder) {
	words.Fprintf(b, "  %s: %s", w.Reason, w.Message)
	var known []string
	if w.Owner != "" {
		known = append(known, "owner: "+w.Owner)
	}
	if !w.Since.IsZero() {
		known = append(known, "since "+w.Since.UTC().Format(time.RFC3339))
	}
	if known != nil {
		words.Fprintf(b, " (%s)", strings.Join(known, ", "))
	}
	b.WriteString("\n")
	if w.Unblock != "" {
		words.Fprintf(b, "    next: %s\n", w.Unblock)
	}
	for _, c := range w.Commands {
		words.Fprintf(b, "      %s\n", c)
	}
}

// add appends a wait.
func (v *View) add(w Wait) {
	if w.Subject == "" {
		w.Subject = v.Subject()
	}
	v.Waits = append(v.Waits, w)
}

// patience is longer than OLM takes for anything that ends by itself: it gives an
// installation five minutes, and the job that unpacks a bundle ten.
const patience = 30 * time.Minute

// late says of what should end by itself, and has lasted too long, that it does not.
func (c *Cluster) late(v *View) *View {
	for i := range v.Waits {
		w := &v.Waits[i]
		if lasted := c.Now.Sub(w.Since); w.Passing && !c.Now.IsZero() && !w.Since.IsZero() && lasted > patience {
			w.Passing = false
			w.Message += fmt.Sprintf("; that has lasted %s, longer than it takes", words.Span(lasted))
			if len(w.Commands) == 0 {
				w.Commands = []string{shell.Command("kubectl get events -A --field-selector type=Warning")}
			}
		}
	}
	return v
}

// since is when a condition began, zero if there is none.
func since(c *fairlead.Condition) time.Time {
	if c == nil {
		return time.Time{}
	}
	return c.LastTransitionTime
}

// holds returns the condition of a type if it is True, or nil.
func holds(all []fairlead.Condition, kind string) *fairlead.Condition {
	if c := fairlead.FindCondition(all, kind); c != nil && c.Status == fairlead.ConditionTrue {
		return c
	}
	return nil
}
