package failure

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Sign is what an object says about itself.
type Sign struct {
	Kind      string `json:"kind"`                // of the object that says it
	Namespace string `json:"namespace,omitempty"` // empty if it has none
	Name      string `json:"name"`                // of the object
	// Type is the type of the condition, or the state of a container: waiting or
	// terminated. Empty for other texts, such as an annotation.
	Type    string `json:"type,omitempty"`
	Reason  string `json:"reason,omitempty"`  // one word, as it was reported
	Message string `json:"message,omitempty"` // a text of any length
}

// Object names an object.
type Object struct {
	Kind      string `json:"kind"`                // such as Service
	Namespace string `json:"namespace,omitempty"` // empty if it has none, or if it is not known
	Name      string `json:"name"`                // never empty
}

// Failure is a known failure.
type Failure struct {
	Code string `json:"code"` // a stable word in CamelCase
	// Sentence says what is wrong, without a full stop. It names the objects that the
	// message names.
	Sentence string `json:"sentence"`
	// Quote is the clause of the message that shows it, whole; empty if a structured field
	// showed it.
	Quote string `json:"quote,omitempty"`
	// Of is the object that is at fault, or that is waited for, if the message names it;
	// otherwise the object that says so.
	Of Object `json:"of"`
	// Link is whether the failure is only a symptom: what is wrong is wrong with Of.
	Link bool `json:"link,omitempty"`
	// Do says what to do, beginning with a verb.
	Do string `json:"do"`
	// Command repairs it, or shows what to repair; it runs as printed. Programs are kubectl,
	// or oc where only oc can do it.
	Command string `json:"command"`
	Plain   string `json:"plain,omitempty"`  // what to run instead of Command where there is no oc; empty if nothing
	Danger  bool   `json:"danger,omitempty"` // data may be lost
	// Vague is whether it says little: another failure that the object shows counts more.
	Vague bool `json:"vague,omitempty"`
}

// Known is one failure of the table, for documents.
type Known struct {
	Code   string // as in Failure
	Says   string // its sentence, with placeholders in braces
	Do     string // what to do, likewise
	Source string // the project's file, or the public report, that the texts come from
}

// mostText is how many bytes of a message are looked at.
const mostText = 64 << 10

// Recognise returns the failure that a sign shows, or nil.
//
//  1. Rows of the table that name kinds or types apply only to these.
//  2. A row is recognised by one of its reasons; among several such rows, the first whose text
//     is also in the message, or else the first.
//  3. Without such a row, it is the first row whose text is in the message.
//  4. Reasons and texts that say little, such as ImagePullBackOff or that an installer
//     failed, count last.
//
// Of a message, the first 64 KiB count.
func Recognise(s *Sign) *Failure { return recognise(s, func(*row) bool { return true }) }

// RecogniseOwn is Recognise without the failures that are only symptoms of another object's.
func RecogniseOwn(s *Sign) *Failure { return recognise(s, func(r *row) bool { return !r.link }) }

func recognise(s *Sign, may func(*row) bool) *Failure {
	text := s.Message
	if len(text) > mostText {
		text = text[:mostText]
	}
	shows := func(r *row) bool { return r.text != nil && r.text.MatchString(text) }
	for _, test := range []func(*row) bool{
		func(r *row) bool { return !r.vague && r.because(s.Reason) && shows(r) },
		func(r *row) bool { return !r.vague && r.because(s.Reason) },
		func(r *row) bool { return !r.vague && shows(r) },
		func(r *row) bool { return r.because(s.Reason) || shows(r) },
	} {
		rows := table()
		for i := range rows {
			if r := &rows[i]; may(r) && r.applies(s) && test(r) {
				return r.failure(s, text)
			}
		}
	}
	return nil
}

// All returns the table, by code.
func All() []Known {
	all := make([]Known, 0, len(table()))
	for i := range table() {
		r := &table()[i]
		all = append(all, Known{r.code, r.says, r.do, r.source})
	}
	slices.SortFunc(all, func(a, b Known) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// row is a row of the table. Templates have placeholders: {kind}, {namespace} and {name} of
// the sign, the named groups of text and of also, and {on}: the node that the message names
// or, if the sign is of a node, that node. In sentences, a part in brackets is left
// out if a placeholder in it is empty.
type row struct {
	code    string
	source  string
	kinds   []string       // empty: any
	types   []string       // empty: any
	reasons []string       // that are enough; a * at an end stands for anything
	vague   bool           // it says little: any other row comes first
	text    *regexp.Regexp // in the message; nil: only the reasons count
	also    []*regexp.Regexp
	of      Object // templates; empty: the object of the sign
	link    bool
	says    string
	do      string
	// commands are templates; the first one whose placeholders are all known is taken.
	commands []string
	plain    string // a template of a command without oc
	danger   bool
}

func (r *row) applies(s *Sign) bool {
	return (len(r.kinds) == 0 || slices.Contains(r.kinds, s.Kind)) && (len(r.types) == 0 || slices.Contains(r.types, s.Type))
}

// because reports whether a reason is enough.
func (r *row) because(reason string) bool {
	return reason != "" && slices.ContainsFunc(r.reasons, func(want string) bool {
		head, tail := strings.HasPrefix(want, "*"), strings.HasSuffix(want, "*")
		word := strings.Trim(want, "*")
		switch {
		case head && tail:
			return strings.Contains(reason, word)
		case head:
			return strings.HasSuffix(reason, word)
		case tail:
			return strings.HasPrefix(reason, word)
		}
		return reason == want
	})
}

// failure fills the templates in.
func (r *row) failure(s *Sign, text string) *Failure {
	known := map[string]string{"kind": s.Kind, "namespace": s.Namespace, "name": s.Name}
	var quote string
	for _, x := range append([]*regexp.Regexp{r.text}, r.also...) {
		if x == nil {
			continue
		}
		at := x.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		if x == r.text {
			quote = clause(text, at[0], at[1])
		}
		for k, group := range x.SubexpNames() {
			if group = strings.TrimRight(group, "2"); group != "" && at[2*k] >= 0 && known[group] == "" {
				known[group] = text[at[2*k]:at[2*k+1]]
			}
		}
	}
	if known["on"] = known["node"]; known["on"] == "" && s.Kind == "Node" {
		known["on"] = s.Name
	}
	f := &Failure{
		Code: r.code, Quote: quote, Link: r.link, Danger: r.danger, Vague: r.vague, Sentence: sentence(r.says, known), Do: sentence(r.do, known),
		Of: Object{r.of.Kind, sentence(r.of.Namespace, known), sentence(r.of.Name, known)},
	}
	if f.Of.Kind == "" || f.Of.Name == "" {
		f.Of = Object{s.Kind, s.Namespace, s.Name}
	}
	for _, c := range r.commands {
		if complete(c, known) {
			f.Command = command(c, known)
			break
		}
	}
	if complete(r.plain, known) {
		f.Plain = command(r.plain, known)
	}
	return f
}
