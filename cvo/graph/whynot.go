package graph

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
)

// Obstacle is a kind of reason why an update is not offered.
type Obstacle string

// The obstacles.
const (
	Offered        Obstacle = "Offered"        // nothing is in the way
	NotRecommended Obstacle = "NotRecommended" // it is a conditional update, and a risk applies or may apply
	Removed        Obstacle = "Removed"        // the graph data removed the update
	NoEdge         Obstacle = "NoEdge"         // the graph has no update from one to the other
	NotInGraph     Obstacle = "NotInGraph"     // the graph has no such release
	NotInChannel   Obstacle = "NotInChannel"   // the release exists, but not in the channel
	Downgrade      Obstacle = "Downgrade"      // the target is older
	SameRelease    Obstacle = "SameRelease"    // the target is the current release
)

// WhyNot says why a release is not offered as an update, and what would help.
type WhyNot struct {
	From     string          `json:"from"`                  // the current version
	To       string          `json:"to"`                    // the requested version
	Obstacle Obstacle        `json:"obstacle"`              // what is in the way
	Risks    []Exposure      `json:"risks,omitempty"`       // of NotRecommended: the risks, in their order
	Blocks   []Block         `json:"blocks,omitempty"`      // of Removed: what removed it
	Channels []string        `json:"channels,omitempty"`    // of NotInChannel: the channels that the release is in
	Via      []string        `json:"via,omitempty"`         // versions of the best path to the target, if there is one
	ViaRisks []string        `json:"viaRisks,omitempty"`    // names of its risks that apply to the cluster or may, sorted
	Nearest  string          `json:"nearest,omitempty"`     // the greatest reachable version below the target; or the version that was probably meant
	Message  string          `json:"message"`               // what and why, in one sentence or a few
	Next     string          `json:"next"`                  // what to do about it
	Applies  ConditionStatus `json:"recommended,omitempty"` // of a conditional update: whether it is recommended
}

// String returns the explanation in one or two lines.
func (w *WhyNot) String() string {
	if w.Next == "" {
		return w.Message
	}
	return words.JoinLines([]string{w.Message, w.Next})
}

// WhyNotOptions say what is known about the cluster. Nil means the defaults.
type WhyNotOptions struct {
	// PathOptions are those of Paths: the recommended path is the first that
	// Paths returns with them.
	PathOptions
	Channel string // of the graph, for the text
	All     *Graph // of all channels, if known: it shows which channels have a release that the graph lacks
}

// WhyNot explains why a release is not offered as an update from another one.
// The error is a *VersionError of the current version, or that of ctx.
func (g *Graph) WhyNot(ctx context.Context, from, to string, opts *WhyNotOptions) (*WhyNot, error) {
	if opts == nil {
		opts = &WhyNotOptions{}
	}
	i, err := g.find(from)
	if err != nil {
		return nil, err
	}
	w := &WhyNot{From: g.releases[i].Version, To: to}
	j, err := g.findBeside(to, i)
	if err != nil {
		g.explainAbsent(w, i, err, opts)
		return w, nil
	}
	w.To = g.releases[j].Version
	for _, e := range g.out[i] {
		if e.to == j {
			g.explainEdge(w, e, opts)
			if w.Obstacle == NotRecommended {
				return w, g.suggestPath(ctx, w, i, j, opts)
			}
			return w, nil
		}
	}
	if g.explainNoEdge(w, i, j); w.Obstacle == SameRelease || w.Obstacle == Downgrade {
		return w, nil
	}
	return w, g.suggest(ctx, w, i, j, opts)
}

// explainEdge explains an update that exists.
func (g *Graph) explainEdge(w *WhyNot, e edge, opts *WhyNotOptions) {
	u := Update{Release: g.releases[e.to]}
	if e.risks != none {
		u.Risks = g.risks[e.risks]
	}
	r := opts.Evaluations.Recommend(u, opts.Accepted)
	w.Applies, w.Risks = r.Status, r.Exposures
	if r.Status == fairlead.ConditionTrue {
		w.Obstacle, w.Message = Offered, fmt.Sprintf("%s is offered as an update of %s: %s", w.To, w.From, lower(r.Message))
		return
	}
	w.Obstacle = NotRecommended
	var exposed, unknown, parts []string
	for _, x := range r.Exposures {
		switch {
		case x.Accepted:
		case x.Applies == fairlead.ConditionTrue:
			exposed = append(exposed, x.Risk)
		case x.Applies == fairlead.ConditionUnknown:
			unknown = append(unknown, x.Risk)
		}
	}
	if len(exposed) > 0 {
		parts = append(parts, "the cluster is exposed to "+strings.Join(exposed, ", "))
	}
	if len(unknown) > 0 {
		parts = append(parts, "it is unknown whether the cluster is exposed to "+strings.Join(unknown, ", "))
	}
	w.Message = fmt.Sprintf("%s is a conditional update of %s and not recommended: %s.", w.To, w.From, strings.Join(parts, "; "))
	w.Next = "Read about " + words.Plural(len(exposed)+len(unknown), "the risk", "the risks") + ", then wait for a release without it, or accept it by name."
	if free := g.freeTarget(w.From, e.to, opts); free != "" {
		w.Nearest = free
		w.Next += " " + free + " is recommended."
	}
}

// freeTarget returns the greatest version below a target that is recommended
// from the same release.
func (g *Graph) freeTarget(from string, target int32, opts *WhyNotOptions) string {
	i := g.byName[from]
	best := int32(none)
	for _, e := range g.out[i] {
		u := Update{}
		if e.risks != none {
			u.Risks = g.risks[e.risks]
		}
		if g.versions[e.to].Compare(g.versions[target]) < 0 && (best == none || g.newest(e.to, best) < 0) &&
			opts.Evaluations.Recommend(u, opts.Accepted).Status == fairlead.ConditionTrue {
			best = e.to
		}
	}
	if best == none {
		return ""
	}
	return g.releases[best].Version
}

// explainNoEdge explains two releases without an update between them.
func (g *Graph) explainNoEdge(w *WhyNot, i, j int32) {
	switch c := g.versions[j].Compare(g.versions[i]); {
	case i == j:
		w.Obstacle, w.Message = SameRelease, w.From+" is the current release."
		return
	case c < 0:
		w.Obstacle = Downgrade
		w.Message = fmt.Sprintf("%s is older than %s, and an update graph leads only to newer releases.", w.To, w.From)
		w.Next = "A cluster can be rolled back only to the release that it ran before, and only within a minor version."
		return
	}
	if w.Blocks = g.blocks[[2]int32{i, j}]; len(w.Blocks) > 0 {
		w.Obstacle = Removed
		var by []string
		for _, b := range w.Blocks {
			text := fmt.Sprintf("from %s", b.From)
			if b.Pos.File != "" {
				text = fmt.Sprintf("%s, from %s", b.Pos.File, b.From)
			}
			by = append(by, text)
		}
		w.Message = fmt.Sprintf("The update from %s to %s was removed from the graph (%s).", w.From, w.To, strings.Join(by, "; "))
	} else {
		w.Obstacle = NoEdge
		w.Message = fmt.Sprintf("The graph has no update from %s to %s.", w.From, w.To)
		text := g.releases[j].Metadata[metaPreviousExpr]
		if expr, err := regexp.Compile(text); text != "" && err == nil && expr.MatchString(w.From) {
			w.Message += fmt.Sprintf(" Updates to it from versions that match %s were removed.", text)
		}
	}
}

// suggest fills in what can be done if there is no such update.
func (g *Graph) suggest(ctx context.Context, w *WhyNot, i, j int32, opts *WhyNotOptions) error {
	if err := g.suggestPath(ctx, w, i, j, opts); err != nil || w.Via != nil {
		return err
	}
	without := ""
	if len(opts.Avoid) > 0 {
		without = " without the risks to avoid"
	}
	if near := g.nearestReachable(i, j, &opts.PathOptions); near != "" {
		w.Nearest = near
		w.Next = "No path leads there" + without + ". The nearest reachable release is " + near + "."
		return nil
	}
	w.Next = "No update leads away from " + w.From + without + "; try another channel."
	return nil
}

// suggestPath fills in the best path, if it has more than one update.
func (g *Graph) suggestPath(ctx context.Context, w *WhyNot, i, j int32, opts *WhyNotOptions) error {
	s, err := g.search(ctx, j, &opts.PathOptions)
	if err != nil || s.left[i] == unreachable {
		return err
	}
	p := g.path(s.best(i))
	if len(p.Updates) == 1 {
		return nil
	}
	var applies, unknown []string
	for _, u := range p.Updates {
		w.Via = append(w.Via, u.Version)
		for _, x := range opts.Evaluations.Recommend(u, opts.Accepted).Exposures {
			switch {
			case x.Accepted:
			case x.Applies == fairlead.ConditionTrue:
				applies = append(applies, x.Risk)
			case x.Applies == fairlead.ConditionUnknown:
				unknown = append(unknown, x.Risk)
			}
		}
	}
	slices.Sort(applies)
	slices.Sort(unknown)
	applies, unknown = slices.Compact(applies), slices.Compact(unknown)
	w.ViaRisks = slices.Concat(applies, unknown)
	slices.Sort(w.ViaRisks)
	w.ViaRisks = slices.Compact(w.ViaRisks)
	text := fmt.Sprintf("%s is reached in %d updates: %s.", w.To, len(w.Via), strings.Join(w.Via, ", then "))
	if len(applies) > 0 {
		text += " The cluster is exposed to risks on the way: " + strings.Join(applies, ", ") + "."
	}
	if len(unknown) > 0 {
		text += " It is unknown whether it is exposed to " + strings.Join(unknown, ", ") + " on the way."
	}
	w.Next = strings.TrimSpace(w.Next + " " + text)
	return nil
}

// nearestReachable returns the greatest version up to that of j that can be
// reached from i by updates that need not be avoided.
func (g *Graph) nearestReachable(i, j int32, opts *PathOptions) string {
	seen := make([]bool, len(g.releases))
	seen[i] = true
	best := int32(none)
	for stack := []int32{i}; len(stack) > 0; {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, e := range g.out[at] {
			if seen[e.to] || e.risks != none && opts.burden(g.risks[e.risks]).avoided {
				continue
			}
			seen[e.to] = true
			stack = append(stack, e.to)
			if g.versions[e.to].Compare(g.versions[j]) <= 0 && (best == none || g.newest(e.to, best) < 0) {
				best = e.to
			}
		}
	}
	if best == none {
		return ""
	}
	return g.releases[best].Version
}

// explainAbsent explains a release that is missing from the graph.
func (g *Graph) explainAbsent(w *WhyNot, i int32, err error, opts *WhyNotOptions) {
	v := err.(*VersionError)
	w.Obstacle, w.Nearest = NotInGraph, v.Near
	if opts.All != nil {
		if r, ok := opts.All.Release(w.To); ok {
			w.Obstacle, w.Channels, w.Nearest = NotInChannel, r.Channels(), ""
			channel := "the channel"
			if opts.Channel != "" {
				channel = "channel " + opts.Channel
			}
			w.Message = fmt.Sprintf("%s is not in %s.", w.To, channel)
			w.Next = "It is in no channel."
			if len(w.Channels) > 0 {
				w.Next = "It is in " + strings.Join(w.Channels, ", ") + ": to update to it, change the channel."
			}
			return
		}
	}
	if v.Err != nil {
		w.Message = v.Err.Error() + "."
	} else {
		w.Message = fmt.Sprintf("The graph has no release %s.", w.To)
	}
	if v.Near != "" {
		w.Next = "The nearest one is " + v.Near + "."
	}
	if channels := g.releases[i].Channels(); len(channels) > 0 && v.Err == nil {
		w.Next = strings.TrimSpace(w.Next + " " + w.From + " is in " + strings.Join(slices.Clip(channels), ", ") + ": another channel may have it.")
	}
}

// lower returns a sentence in the form for the middle of another one.
func lower(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToLower(sentence[:1]) + sentence[1:]
}
