package release

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/edit"
)

// The codes of findings.
const (
	CodeStranded catalog.Code = "stranded-users" // users of the old catalog get no updates from the new one
)

// Report is what a new version of a catalog does to the users of the old one.
type Report struct {
	// Diff is what changed, with all users that are stranded.
	Diff *diff.Diff `json:"diff"`
	// Users counts those that were looked at: the entries of each channel of
	// the old catalog from which updates led to the head, by rules.
	Users int `json:"users"`
	// Findings are what is wrong with the new catalog by itself, and who is
	// stranded by it, sorted by position.
	Findings catalog.Diagnostics `json:"findings,omitempty"`
	// Fixes are the edits of Patch in words, by package and channel.
	Fixes []Fix `json:"fixes,omitempty"`
	// Patch is the edit of the new catalog after which nobody is stranded any
	// more whom an edit can help; nil if there is nobody, or nothing helps.
	Patch *edit.Patch `json:"patch,omitempty"`
	// Left are users whom the patch does not help, by package.
	Left []string `json:"left,omitempty"`
}

// Fix is an edit that lets users go on: the head of a channel skips what they
// have.
type Fix struct {
	Package string   `json:"package"` // whose
	Channel string   `json:"channel"` // of the package
	Entry   string   `json:"entry"`   // that changes
	Skips   []string `json:"skips"`   // names that it skips beside those it does
}

// Passes reports whether the new catalog may be released: it is valid, and
// nobody is stranded.
func (r *Report) Passes() bool { return len(r.Findings) == 0 }

// Judge compares the catalog in after with the one before. The users are the
// entries of every channel of the old catalog from which updates lead to the
// head; each must reach the head of its channel in the new one, by the rules of
// OLM v0 and by those of v1. What their operators require of others is not
// looked at.
//
// The error is that of ctx or of reading. A catalog of which documents cannot
// be read is judged by the rest, and does not pass.
func Judge(ctx context.Context, before *catalog.Catalog, after fs.FS) (*Report, error) {
	now, judged, err := check.Open(ctx, after, nil)
	if err != nil {
		return nil, err
	}
	r := &Report{Findings: judged.Findings(), Users: users(before)}
	if r.Diff, err = diff.Compare(ctx, before, now, nil); err != nil {
		return nil, err
	}
	for _, p := range r.Diff.Packages {
		for _, s := range p.Stranded {
			r.Findings = append(r.Findings, finding(now, p.Name, s))
		}
	}
	r.Findings = r.Findings.Sorted()
	if r.Diff.Stranded() > 0 && len(now.Faults()) == 0 {
		if err := r.help(ctx, before, now, after); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// users counts those that are looked at.
func users(c *catalog.Catalog) (n int) {
	for p := range c.Packages() {
		for ch := range p.Channels() {
			for _, rules := range []catalog.Rules{catalog.OLMv0, catalog.OLMv1} {
				g, leading := ch.Graph(rules), map[string]bool{}
				for _, head := range ch.Heads() {
					leading[head] = true
					for name := range g.Reaching(head) {
						leading[name] = true
					}
				}
				for _, e := range ch.Entries() {
					if leading[e.Name] {
						n++
					}
				}
			}
		}
	}
	return n
}

// finding tells of users at the place that is to be edited.
func finding(now *catalog.Catalog, pkg string, s diff.Stranded) *catalog.Diagnostic {
	rules := make([]string, len(s.Rules))
	for i, r := range s.Rules {
		rules[i] = r.String()
	}
	d := &catalog.Diagnostic{
		Code: CodeStranded, Subject: fmt.Sprintf("package %q, channel %q", pkg, s.Channel),
		Message: fmt.Sprintf("who has %q gets no updates any more from OLM %s: %s", s.Bundle, strings.Join(rules, " and "), s.Why),
		Hint:    fmt.Sprintf("let the head skip %q, or keep the way that was there", s.Bundle),
	}
	if p, ok := now.Package(pkg); ok {
		d.Pos = p.Document().Pos()
		if ch, ok := p.Channel(s.Channel); ok {
			d.Pos = ch.Document().Pos()
		}
	}
	return d
}

// help looks for the edit that lets stranded users go on, and tries it.
func (r *Report) help(ctx context.Context, before, now *catalog.Catalog, after fs.FS) error {
	patch := &edit.Patch{}
	e, err := edit.Open(ctx, after)
	if err != nil {
		return err
	}
	for _, p := range r.Diff.Packages {
		byChannel := map[string][]string{}
		for _, s := range p.Stranded {
			byChannel[s.Channel] = append(byChannel[s.Channel], s.Bundle)
		}
		listed, ok := now.Package(p.Name)
		if !ok {
			continue
		}
		for ch := range listed.Channels() {
			names, heads := byChannel[ch.Name()], ch.Heads()
			if len(names) == 0 || len(heads) != 1 {
				continue
			}
			at := slices.IndexFunc(ch.Entries(), func(x catalog.Entry) bool { return x.Name == heads[0] })
			entry := ch.Entries()[at]
			entry.Skips = append(slices.Clone(entry.Skips), names...)
			made, err := e.SetEntry(ctx, p.Name, ch.Name(), entry)
			if err != nil {
				continue // it cannot be written there: the users are among those left
			}
			patch.Changes = append(patch.Changes, made.Changes...)
			r.Fixes = append(r.Fixes, Fix{p.Name, ch.Name(), entry.Name, names})
		}
	}
	if len(patch.Changes) == 0 {
		r.leave(r.Diff)
		return nil
	}
	fsys, err := patch.Sorted().Patched(after)
	if err != nil {
		return err
	}
	fixed, judged, err := check.Open(ctx, fsys, nil)
	if err != nil {
		return err
	}
	d, err := diff.Compare(ctx, before, fixed, nil)
	if err != nil {
		return err
	}
	if d.Stranded() >= r.Diff.Stranded() || len(judged.Findings()) > len(r.Findings)-r.Diff.Stranded() {
		r.Fixes = nil
		r.leave(r.Diff)
		return nil
	}
	r.Patch = patch
	r.leave(d)
	return nil
}

// leave lists the users that a comparison still calls stranded.
func (r *Report) leave(d *diff.Diff) {
	for _, p := range d.Packages {
		for _, s := range p.Stranded {
			r.Left = append(r.Left, fmt.Sprintf("package %s, channel %s: who has %s: %s", p.Name, s.Channel, s.Bundle, s.Why))
		}
	}
}
