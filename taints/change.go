package taints

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
)

// Change is one argument of "kubectl taint" and "oc adm taint": a taint to put
// on a node, or taints to remove from it.
//
//	key=value:Effect   adds the taint, or changes the value of that key and effect
//	key:Effect         the same, without a value; key=:Effect means the same
//	key:Effect-        removes the taint of that key and effect
//	key=value:Effect-  the same: the value is ignored
//	key-               removes every taint of that key
type Change struct {
	Key    string               `json:"key"`              // of the taint
	Value  string               `json:"value,omitempty"`  // of the taint
	Effect fairlead.TaintEffect `json:"effect,omitempty"` // empty means every effect, if it is a removal
	Remove bool                 `json:"remove,omitempty"` // the taints are removed
	// Equals is set if "=" precedes an empty value, so that String returns the
	// original text.
	Equals bool `json:"equals,omitempty"`
}

// String returns the change as an argument of the command, as [ParseChange]
// read it.
func (c Change) String() string {
	s := c.Key
	if c.Value != "" || c.Equals {
		s += "=" + c.Value
	}
	if c.Effect != "" {
		s += ":" + string(c.Effect)
	}
	if c.Remove {
		s += "-"
	}
	return s
}

// Taint returns the taint that the change names.
func (c Change) Taint() fairlead.Taint {
	return fairlead.Taint{Key: c.Key, Value: c.Value, Effect: c.Effect}
}

// A SyntaxError says where the text of a change is wrong.
type SyntaxError struct {
	Text    string // the whole text
	Offset  int    // where in the text, in bytes from 0
	Problem string // what is wrong there
	Fix     string // what to write instead of Text; empty if unknown
}

// Error implements error. It counts characters from 1.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("taint %q, character %d: %s", e.Text, len([]rune(e.Text[:e.Offset]))+1, e.Problem)
	if e.Fix != "" {
		s += "; write " + e.Fix
	}
	return s
}

// ParseChange reads one change. It accepts exactly what kubectl does. The error
// is a [*SyntaxError].
func ParseChange(text string) (Change, error) {
	body, remove := strings.CutSuffix(text, "-")
	p := changeParser{text: text, change: Change{Remove: remove}}
	taint, effect, hasEffect := strings.Cut(body, ":")
	if !p.effect(taint, effect, hasEffect) || !p.taint(taint, hasEffect) {
		return Change{}, p.err
	}
	return p.change, nil
}

type changeParser struct {
	text   string
	change Change
	err    *SyntaxError
}

func (p *changeParser) fail(offset int, problem, fix string) bool {
	var more *SyntaxError
	if fix != "" {
		if _, err := ParseChange(fix); errors.As(err, &more) {
			fix = more.Fix // one of several faults
		}
	}
	p.err = &SyntaxError{Text: p.text, Offset: offset, Problem: problem, Fix: fix}
	return false
}

// effect reads the text after the first colon.
func (p *changeParser) effect(taint, effect string, there bool) bool {
	at := len(taint) + 1
	if i := strings.IndexByte(effect, ':'); i >= 0 {
		return p.fail(at+i, "there is a second ':'; only the effect follows one", "")
	}
	if !there {
		if p.change.Remove || taint == "" {
			return true
		}
		problem := "the effect is missing; add :NoSchedule, :PreferNoSchedule or :NoExecute"
		if !strings.Contains(taint, "=") {
			problem += ", or " + taint + "- to remove the taint"
		}
		return p.fail(len(p.text), problem, "")
	}
	if w := effectFlaw(effect); w.problem != "" {
		fix := ""
		if w.fix != "" {
			fix = taint + ":" + w.fix + p.dash()
		}
		return p.fail(at, w.problem, fix)
	}
	p.change.Effect = fairlead.TaintEffect(effect)
	return true
}

// taint reads the text before the colon.
func (p *changeParser) taint(taint string, hasEffect bool) bool {
	rest := p.text[len(taint):]
	key, value, equals := strings.Cut(taint, "=")
	if !hasEffect && equals {
		fix := key + "-"
		return p.fail(len(key), "a removal that names a value must also name the effect: "+key+"="+value+":Effect-, or "+fix+" for all effects", "")
	}
	if i := strings.IndexByte(value, '='); i >= 0 {
		return p.fail(len(key)+1+i, "there is a second '='; a value cannot contain one", "")
	}
	if w := keyFlaw(key); w.problem != "" {
		return p.fail(w.at, "key: "+w.problem, p.replaced(w.fix, taint[len(key):]+rest))
	}
	if w := valueFlaw(value); w.problem != "" {
		return p.fail(len(key)+1+w.at, "value: "+w.problem, p.replaced(w.fix, rest, key, "="))
	}
	p.change.Key, p.change.Value, p.change.Equals = key, value, equals && value == ""
	return true
}

// replaced returns before, fix and after as one text, or "" without a fix.
func (p *changeParser) replaced(fix, after string, before ...string) string {
	if fix == "" {
		return ""
	}
	return strings.Join(before, "") + fix + after
}

func (p *changeParser) dash() string {
	if p.change.Remove {
		return "-"
	}
	return ""
}

// A ChangesError says which changes cannot be combined in one command.
type ChangesError struct {
	Changes []Change // those at fault, in the order of the command
	Problem string   // why not, and what to do
}

// Error implements error.
func (e *ChangesError) Error() string {
	words := make([]string, len(e.Changes))
	for i, c := range e.Changes {
		words[i] = c.String()
	}
	return "taints " + strings.Join(words, " ") + ": " + e.Problem
}

// ParseChanges reads the changes of one command, and checks them together: no
// taint may be added twice, or added and removed. The error is a [*SyntaxError]
// or a [*ChangesError].
func ParseChanges(words []string) ([]Change, error) {
	changes := make([]Change, 0, len(words))
	for _, w := range words {
		c, err := ParseChange(w)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, checkChanges(changes)
}

// checkChanges looks for the first change that conflicts with an earlier one.
func checkChanges(changes []Change) error {
	type identity struct {
		key    string
		effect fairlead.TaintEffect // empty for a removal of every effect
		remove bool
	}
	seen := make(map[identity]int, len(changes))
	for i, c := range changes {
		effect := c.Effect
		if first, ok := seen[identity{c.Key, effect, false}]; ok && !c.Remove {
			return &ChangesError{[]Change{changes[first], c}, "they have the same key and effect, and a node has one such taint; keep one of them"}
		}
		clash := []identity{{c.Key, effect, !c.Remove}}
		if !c.Remove {
			clash = append(clash, identity{c.Key, "", true})
		}
		for _, id := range clash {
			if first, ok := seen[id]; ok {
				return &ChangesError{[]Change{changes[first], c}, "one command cannot both set and remove a taint; use two, or drop one of them"}
			}
		}
		seen[identity{c.Key, effect, c.Remove}] = i
		if _, ok := seen[identity{c.Key, "", c.Remove}]; !ok && !c.Remove {
			seen[identity{c.Key, "", false}] = i
		}
	}
	return nil
}
