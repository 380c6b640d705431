package snapshot

import (
	"bytes"
	"regexp"
	"slices"
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
	if what := forPeople(source); what != "" {
		w.Problem = what
	}
	w.Foreign = !f.hint.alerts && (e.Kind == doc.NotObject || f.prose(source) || template.Match(source))
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
	for _, l := range f.mentioned(source) {
		f.gap(l, Gap{Where: e.Pos, Why: why})
	}
}

// mentioned returns the lists of the kinds that a text is about.
func (f *file) mentioned(text []byte) []table {
	var all []table
	for _, m := range mention.FindAllSubmatch(text, -1) {
		k := byName[strings.TrimSuffix(string(m[1]), "List")]
		if k != nil && !slices.Contains(all, k.list(&f.s)) {
			all = append(all, k.list(&f.s))
		}
	}
	return all
}

// lost records the parts of a list that could not be read: objects of the kinds that they mention, or
// else of any kind in the list, and of all of them if the end is missing.
func (f *file) lost(parts []doc.Lost) {
	for _, p := range parts {
		why, of := "an element of the list cannot be read", f.mentioned(p.Text)
		if p.Cut {
			why = "the list is cut off"
		}
		if p.Cut || len(of) == 0 {
			of = append(of, f.listed...)
		}
		used := "; the rest of the list is used"
		if p.Cut { // there may be nothing before
			used = ""
		}
		f.warn(Warning{
			Where: p.Err.Pos, Problem: strings.TrimPrefix(p.Err.Error(), p.Err.Pos.String()+": ") + used,
			Unread: len(of) > 0, Foreign: len(of) == 0,
		})
		for i, l := range of {
			if !slices.Contains(of[:i], l) {
				f.gap(l, Gap{Namespace: f.hint.namespace, Where: p.Err.Pos, Why: why})
			}
		}
	}
}

// refusal finds what the API server says of a request that it refuses.
var refusal = regexp.MustCompile(`is forbidden: User "[^"]*" cannot (?:list|get) resource "([^"]+)"(?: in API group "[^"]*")?(?: in the namespace "([^"]+)")?`)

// said hears what kubectl and oc say between objects: a refused request leaves its kind unknown.
func (f *file) said(text string, line int) {
	w := Warning{Where: Position{File: f.name, Line: line, Column: 1}, Problem: text, Foreign: true}
	if m := refusal.FindStringSubmatch(text); m != nil {
		f.refused(w.Where, text, m[1], m[2])
		return
	}
	f.warn(w)
}

// refused records a request that the API server refused.
func (f *file) refused(where Position, text, resource, namespace string) {
	k := byPlural[resource]
	f.warn(Warning{Where: where, Problem: text, Unread: k != nil, Foreign: k == nil})
	if k != nil {
		permission := "list " + resource
		if namespace != "" {
			permission += " in namespace " + namespace
		}
		f.gap(k.list(&f.s), Gap{namespace, where, "the API server refused it", permission})
	}
}

// otherTexts are what people have instead of objects, each with what it is and what helps: what kubectl prints
// for people, what other programs export, and what a server or etcd answers.
var otherTexts = []struct {
	like *regexp.Regexp
	is   string
}{
	{regexp.MustCompile(`^(?:NAME|NAMESPACE|LAST SEEN) {2,}`), "this is a table for people; write objects, with -o yaml or -o json"},
	{regexp.MustCompile(`^(?:"?[A-Z][A-Z/ -]*"?[,;\t]){2,}`), "this is a table of values; write objects, with kubectl get -o yaml or -o json"},
	{regexp.MustCompile(`^Name: {3,}\S`), "this is a description for people; write objects, with -o yaml or -o json"},
	{regexp.MustCompile(`^[a-z.]+/[a-z0-9.-]+\r?(?:\n|$)`), "these are the names of objects, as -o name prints them; write objects, with -o yaml or -o json"},
	{regexp.MustCompile(`^map\[[a-zA-Z]+:`), "this is an object as a template of Go prints it; write objects, with -o yaml or -o json"},
	{regexp.MustCompile(`^(?i:\x3c(?:!doctype html|html|\?xml))`), "this is a web page, as a proxy or a login answers, and no answer of Kubernetes; ask the API server again"},
	{regexp.MustCompile(`(?m)^# (?:HELP|TYPE) [a-z_:]+ |^[a-z_:]+\{[a-z_]+="`), "these are metrics; write objects, with kubectl get -o yaml or -o json"},
	{regexp.MustCompile(`k8s\x00`), "this is what etcd stores, in the format of the API server; ask the API server, with kubectl get -o yaml or -o json"},
	{regexp.MustCompile(`^\{\s*"header":[^\[]*"kvs":`), "these are keys and values of etcd; ask the API server, with kubectl get -o yaml or -o json"},
	{regexp.MustCompile(`"apiVersion":\s*"audit\.k8s\.io/`), "this is an audit log: it has requests, and not the objects; write those, with kubectl get -o yaml or -o json"},
	{regexp.MustCompile(`(?m)^\s*"?kind"?: "?Config"?,?\s*$`), "this is a kubeconfig; the flag -kubeconfig reads the running cluster with it"},
}

// forPeople says what a text is instead of objects; empty for another one.
func forPeople(text []byte) string {
	text = bytes.TrimLeft(text[:min(len(text), 4<<10)], " \t\r\n")
	for _, o := range otherTexts {
		if o.like.Match(text) {
			return o.is
		}
	}
	return ""
}

// template finds marks of a template, as of Helm: what it makes is not known.
var template = regexp.MustCompile(`\{\{-? ?[.\w"$]`)

func (f *file) gap(l table, g Gap) {
	s := l.scope()
	s.Gaps = append(s.Gaps, g)
}

// versioned finds that a text mentions an API.
var versioned = regexp.MustCompile(`["']?apiVersion["']?\s*:`)

// prose reports whether a text that cannot be read is not about an object: it mentions neither a
// kind nor an API.
func (f *file) prose(source []byte) bool {
	return f.hint.kind == nil && !mention.Match(source) && !versioned.Match(source)
}
