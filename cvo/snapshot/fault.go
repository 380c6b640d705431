package snapshot

import (
	"regexp"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/doc"
)

// Position is a place in a file.
type Position = fairlead.Position

// mention finds what kinds a text is about.
var mention = regexp.MustCompile(`(?:^|[\s{,])["']?kind["']?\s*:\s*["']?([A-Z][A-Za-z]+)`)

// fault records a document that cannot be read. If it looks like objects, then the kinds that it
// mentions are not known completely.
func (f *file) fault(e *doc.Error, source []byte) {
	w := Warning{Where: e.Pos, Problem: strings.TrimPrefix(e.Error(), e.Pos.String()+": ")}
	w.Foreign = !f.hint.alerts && (e.Kind == doc.NotObject || f.prose(source))
	w.Unread = !w.Foreign
	f.warn(w)
	if w.Foreign {
		return
	}
	why := "a document cannot be read"
	if f.hint.alerts {
		f.gap(&f.s.Alerts, Gap{Where: e.Pos, Why: why})
		return
	}
	if f.hint.kind != nil {
		f.gap(f.hint.kind.list(&f.s), Gap{f.hint.namespace, e.Pos, why, ""})
		return
	}
	found := map[string]bool{}
	for _, m := range mention.FindAllSubmatch(source, -1) {
		name := strings.TrimSuffix(string(m[1]), "List")
		if k := byName[name]; k != nil && !found[name] {
			found[name] = true
			f.gap(k.list(&f.s), Gap{Where: e.Pos, Why: why})
		}
	}
}

func (f *file) gap(l table, g Gap) {
	s := l.scope()
	s.Gaps = append(s.Gaps, g)
}

// prose reports whether a text that cannot be read is not about an object: it mentions neither a
// kind nor an API.
func (f *file) prose(source []byte) bool {
	return f.hint.kind == nil && !mention.Match(source) && !regexp.MustCompile(`["']?apiVersion["']?\s*:`).Match(source)
}
