package taints

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/decimal"
	"github.com/fairlead/fairlead/internal/words"
)

// A FieldError says which field of which object is wrong, and what to do.
type FieldError struct {
	Object  string `json:"object,omitempty"` // such as node/n1 or pod/shop/web-0; empty if only a list was checked
	Field   string `json:"field"`            // path in the object, such as spec.taints[0].effect
	Code    string `json:"code"`             // Required, Invalid, NotSupported, Duplicate or Forbidden, as in the API
	Value   string `json:"value,omitempty"`  // the current value
	Problem string `json:"problem"`          // what is wrong with it
	Fix     string `json:"fix,omitempty"`    // what to do; empty if Problem says it
}

// The codes of a FieldError.
const (
	CodeRequired     = "Required"     // it is missing
	CodeInvalid      = "Invalid"      // it has an invalid value
	CodeNotSupported = "NotSupported" // it is not one of the known names
	CodeDuplicate    = "Duplicate"    // it occurs twice
	CodeForbidden    = "Forbidden"    // this change is not allowed
)

// Error implements error.
func (e *FieldError) Error() string {
	var s strings.Builder
	if e.Object != "" {
		s.WriteString(e.Object + ": ")
	}
	s.WriteString(e.Field + ": ")
	if e.Value != "" {
		fmt.Fprintf(&s, "%q: ", e.Value)
	}
	s.WriteString(e.Problem)
	if e.Fix != "" {
		s.WriteString("; " + e.Fix)
	}
	return s.String()
}

// FieldErrors are all errors, in the order of the fields.
type FieldErrors []*FieldError

// Error implements error: a line for each.
func (e FieldErrors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return words.JoinLines(lines)
}

// Unwrap returns the errors one by one.
func (e FieldErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i := range e {
		errs[i] = e[i]
	}
	return errs
}

// ValidateTaints validates the taints of one node as the API does: keys,
// values, effects, and that no combination of key and effect occurs twice. If
// lenient, it accepts every key of up to 253 characters and every value of up
// to 63 that begin with a letter or a digit. The error is a [FieldErrors] or
// nil.
func ValidateTaints(taints []fairlead.Taint, o *Options) error {
	return checkTaints(taints, o).err("")
}

// ValidateTolerations validates the tolerations of one pod as the API does. If
// lenient, it also accepts what breaks the rules but has one clear meaning: a
// value with Exists, TolerationSeconds with an effect that ignores them, no key
// without Exists, and keys and values as in [ValidateTaints]. The error is a
// [FieldErrors] or nil.
func ValidateTolerations(tolerations []fairlead.Toleration, o *Options) error {
	return checkTolerations(tolerations, o).err("")
}

// ValidateNode checks that a node has a name or generateName, and its taints. The
// error is a [FieldErrors] that names it, or nil.
func ValidateNode(n *fairlead.Node, o *Options) error {
	var f findings
	f.named(n.ObjectMeta)
	return append(f, checkTaints(n.Spec.Taints, o)...).err(nodeTitle(n))
}

// ValidatePod checks that a pod has a name or generateName, and its tolerations.
// The error is a [FieldErrors] that names it, or nil. For pods of a ReplicaSet,
// a webhook sees only their generateName.
func ValidatePod(p *fairlead.Pod, o *Options) error {
	var f findings
	f.named(p.ObjectMeta)
	return append(f, checkTolerations(p.Spec.Tolerations, o)...).err(podTitle(p))
}

// ValidateTolerationUpdate validates a change of the tolerations of an existing
// pod: tolerations may be added, and only TolerationSeconds of existing ones
// may change. New ones are validated as by [ValidateTolerations]. The error is
// a [FieldErrors] or nil.
func ValidateTolerationUpdate(before, after []fairlead.Toleration, o *Options) error {
	var f findings
	for i, old := range before {
		if !containsToleration(after, old) {
			f.add(tolerationField(i), CodeForbidden, old.String(),
				"a toleration of a pod that exists cannot be removed or changed, except its tolerationSeconds", "add another one instead")
		}
	}
	return append(f, checkTolerations(after, o)...).err("")
}

// containsToleration reports whether list has t, with any seconds.
func containsToleration(list []fairlead.Toleration, t fairlead.Toleration) bool {
	for _, other := range list {
		if sameToleration(other, t) {
			return true
		}
	}
	return false
}

// sameToleration compares what identifies a toleration: all but its seconds.
func sameToleration(a, b fairlead.Toleration) bool {
	return a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value && a.Effect == b.Effect
}

func nodeTitle(n *fairlead.Node) string { return "node/" + title(n.ObjectMeta) }

func podTitle(p *fairlead.Pod) string { return "pod/" + title(p.ObjectMeta) }

// title names an object as String does, or by its GenerateName if it has no name
// yet.
func title(m fairlead.ObjectMeta) string {
	if m.Name == "" && m.GenerateName != "" {
		m.Name = m.GenerateName + "*"
	}
	return m.String()
}

func taintField(i int) string { return fmt.Sprintf("spec.taints[%d]", i) }

func tolerationField(i int) string { return fmt.Sprintf("spec.tolerations[%d]", i) }

type findings []*FieldError

func (f *findings) add(field, code, value, problem, fix string) {
	*f = append(*f, &FieldError{Field: field, Code: code, Value: value, Problem: problem, Fix: fix})
}

// text adds the flaw of one text, if there is any.
func (f *findings) text(field, value string, w flaw) {
	if w.problem == "" {
		return
	}
	fix, code := "", CodeInvalid
	if w.fix != "" {
		fix = "write " + w.fix
	}
	if value == "" {
		code = CodeRequired
	}
	f.add(field, code, value, w.problem, fix)
}

// named checks that an object has a name, or gets one from the server.
func (f *findings) named(m fairlead.ObjectMeta) {
	if m.Name == "" && m.GenerateName == "" {
		f.add("metadata.name", CodeRequired, "", "the name is missing", "write metadata.name or metadata.generateName")
	}
}

// err returns the findings as an error about an object.
func (f findings) err(object string) error {
	if len(f) == 0 {
		return nil
	}
	for _, e := range f {
		e.Object = object
	}
	return FieldErrors(f)
}

func checkTaints(taints []fairlead.Taint, o *Options) findings {
	var f findings
	type identity struct {
		key    string
		effect fairlead.TaintEffect
	}
	seen := make(map[identity]int, len(taints))
	for i, t := range taints {
		field := taintField(i)
		f.key(field, t.Key, o)
		f.value(field, t.Value, o)
		f.effect(field, t.Effect)
		if first, twice := seen[identity{t.Key, t.Effect}]; twice {
			f.add(field, CodeDuplicate, t.String(), fmt.Sprintf("taints[%d] has the same key and effect", first), "keep one of them")
			continue
		}
		seen[identity{t.Key, t.Effect}] = i
	}
	return f
}

func (f *findings) key(field, key string, o *Options) {
	judge := keyFlaw
	if o.lenient() {
		judge = seedKeyFlaw
	}
	f.text(field+".key", key, judge(key))
}

func (f *findings) value(field, value string, o *Options) {
	judge := valueFlaw
	if o.lenient() {
		judge = seedValueFlaw
	}
	f.text(field+".value", value, judge(value))
}

func (f *findings) effect(field string, e fairlead.TaintEffect) {
	w := effectFlaw(string(e))
	before := len(*f)
	f.text(field+".effect", string(e), w)
	if len(*f) > before && e != "" {
		(*f)[before].Code = CodeNotSupported
	}
}

func checkTolerations(tolerations []fairlead.Toleration, o *Options) findings {
	var f findings
	for i := range tolerations {
		f.toleration(tolerationField(i), &tolerations[i], o)
	}
	return f
}

func (f *findings) toleration(field string, t *fairlead.Toleration, o *Options) {
	if t.Key != "" {
		f.key(field, t.Key, o)
	} else if t.Operator != fairlead.TolerationExists && !o.lenient() {
		f.add(field+".operator", CodeInvalid, string(t.Operator), "without a key the operator must be Exists, which matches every key", "name a key, or write operator: Exists without a value")
	}
	f.operator(field, t, o)
	if t.Effect != "" {
		f.effect(field, t.Effect)
	}
	if t.TolerationSeconds != nil && t.Effect != fairlead.NoExecute && !o.lenient() {
		f.add(field+".effect", CodeInvalid, string(t.Effect), "tolerationSeconds need the effect NoExecute; other effects ignore them", "write effect: NoExecute, or leave tolerationSeconds out")
	}
}

// operator checks the operator together with the value that it compares.
func (f *findings) operator(field string, t *fairlead.Toleration, o *Options) {
	known := []string{string(fairlead.TolerationEqual), string(fairlead.TolerationExists)}
	if o.numbers() {
		known = append(known, string(fairlead.TolerationLt), string(fairlead.TolerationGt))
	}
	switch {
	case t.Operator == fairlead.TolerationEqual || t.Operator == "":
		f.value(field, t.Value, o)
	case t.Operator == fairlead.TolerationExists:
		if t.Value != "" && !o.lenient() {
			f.add(field+".value", CodeInvalid, t.Value, "Exists takes no value because it matches every value", "leave the value out, or write operator: Equal")
		}
	case t.Operator != fairlead.TolerationLt && t.Operator != fairlead.TolerationGt:
		fix := ""
		if m := meant(string(t.Operator), known); m != "" {
			fix = "write " + m
		}
		f.add(field+".operator", CodeNotSupported, string(t.Operator), "there is no such operator; there are "+words.List(known, "and", len(known)), fix)
	case !o.numbers():
		f.add(field+".operator", CodeNotSupported, string(t.Operator), "comparing numbers (feature gate TaintTolerationComparisonOperators) is turned off", "turn it on, or write Equal or Exists")
	default:
		if _, err := decimal.Parse(t.Value); err != nil {
			f.add(field+".value", CodeInvalid, t.Value, string(t.Operator)+" compares whole numbers: "+err.Error(), "")
		}
	}
}
