package taints

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	core "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	utiltaints "k8s.io/kubernetes/pkg/util/taints"
	utiltolerations "k8s.io/kubernetes/pkg/util/tolerations"

	"github.com/go-logr/logr"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints"
	matcher "github.com/fairlead/fairlead/taints/fleet"
)

// inputs is how many random inputs each comparison draws.
func inputs() int { return long.N(300_000, 10_000_000) }

// draw picks from a few words, so that many inputs match, and from the limits of
// numbers.
type draw struct{ *rand.Rand }

func newDraw() draw { return draw{rand.New(rand.NewPCG(20, 26))} }

func (d draw) of(words ...string) string { return words[d.IntN(len(words))] }

var values = []string{
	"", "", "v", "w", "5", "5", "6", "-5", "05", "+5", "-0", "0", "5.0", "-", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "-9223372036854775809", "00", " 5", "1e3",
}

// value returns a plain value two times out of three.
func (d draw) value() string {
	if d.IntN(3) > 0 {
		return d.of("", "", "v", "5", "6")
	}
	return d.of(values...)
}

func (d draw) taint() fairlead.Taint {
	return fairlead.Taint{
		Key: d.of("a", "a", "a", "a", "b", "b", "example.com/c", ""), Value: d.value(),
		Effect: fairlead.TaintEffect(d.of("NoSchedule", "NoSchedule", "NoSchedule", "NoExecute", "NoExecute", "PreferNoSchedule", "", "noschedule")),
	}
}

func (d draw) toleration() fairlead.Toleration {
	t := fairlead.Toleration{
		Key:      d.of("", "", "a", "a", "a", "a", "b", "example.com/c"),
		Operator: fairlead.TolerationOperator(d.of("", "Equal", "Exists", "Exists", "Exists", "Exists", "Lt", "Gt", "Lt", "Gt", "exists", "In")),
		Value:    d.value(),
		Effect:   fairlead.TaintEffect(d.of("", "", "", "", "NoSchedule", "NoSchedule", "NoExecute", "NoExecute", "PreferNoSchedule", "noschedule")),
	}
	if t.Operator == fairlead.TolerationExists && d.IntN(2) == 0 {
		t.Value = ""
	}
	if d.IntN(6) == 0 {
		seconds := int64(d.IntN(4) - 1)
		t.TolerationSeconds = &seconds
	}
	return t
}

// close makes a toleration that often matches a taint, since some parts are the
// taint's.
func (d draw) close(taint fairlead.Taint) fairlead.Toleration {
	t := d.toleration()
	if d.IntN(3) > 0 {
		t.Key = d.of("", taint.Key)
	}
	if d.IntN(3) > 0 {
		t.Effect = fairlead.TaintEffect(d.of("", string(taint.Effect)))
	}
	if d.IntN(2) == 0 {
		t.Value = taint.Value
	}
	return t
}

// pools returns many taints and tolerations in the types of both sides, since drawing
// from them is cheap.
func (d draw) pools() (a []fairlead.Taint, b []v1.Taint, c []fairlead.Toleration, e []v1.Toleration) {
	for range 4000 {
		taint := d.taint()
		toleration := d.close(taint)
		a, b = append(a, taint), append(b, theirTaint(taint))
		c, e = append(c, toleration), append(e, theirToleration(toleration))
	}
	return a, b, c, e
}

// TestTolerates compares one toleration and one taint, as the scheduler judges them.
func TestTolerates(t *testing.T) {
	d := newDraw()
	ours, theirs, ourTolerations, theirTolerations := d.pools()
	tolerated := 0
	for range inputs() {
		i, j, numbers := d.IntN(len(ours)), d.IntN(len(ourTolerations)), d.IntN(2) == 0
		if d.IntN(3) > 0 {
			j = i // made for this taint
		}
		want := theirTolerations[j].ToleratesTaint(logr.Discard(), &theirs[i], numbers)
		got := ourTolerations[j].Tolerates(ours[i])
		if numbers {
			got = ourTolerations[j].ToleratesNumber(ours[i])
		}
		if got != want {
			t.Fatalf("%v on %v (numbers %v): Kubernetes says %v", ourTolerations[j], ours[i], numbers, want)
		}
		if want {
			tolerated++
		}
	}
	share(t, tolerated, inputs())
}

// share logs how many of the answers were yes, and fails if fewer than a fifth were.
func share(t *testing.T, yes, all int) {
	t.Helper()
	t.Logf("%d inputs, %.1f %% of them yes", all, 100*float64(yes)/float64(all))
	if yes*5 < all {
		t.Error("fewer than a fifth")
	}
}

// TestFirstUntolerated compares lists of both, and what a filter keeps; also by the
// compiled matcher.
func TestFirstUntolerated(t *testing.T) {
	d := newDraw()
	ours, theirs, ourTolerations, theirTolerations := d.pools()
	filters := []struct {
		effects taints.Effects
		keep    func(*v1.Taint) bool
	}{
		{taints.AllEffects, nil},
		{taints.OnScheduling, hard},
		{taints.OnNoExecute, func(t *v1.Taint) bool { return t.Effect == v1.TaintEffectNoExecute }},
		{taints.OnPreferNoSchedule, func(t *v1.Taint) bool { return t.Effect == v1.TaintEffectPreferNoSchedule }},
	}
	all := 0
	for range inputs() {
		i, nt := d.IntN(len(ours)-4), d.IntN(5)
		j, np := d.IntN(len(ours)-6), d.IntN(7)
		f, numbers := filters[d.IntN(len(filters))], d.IntN(2) == 0
		o := &taints.Options{ComparisonOperators: numbers}
		want, found := corev1.FindMatchingUntoleratedTaint(logr.Discard(), theirs[i:i+nt], theirTolerations[j:j+np], f.keep, numbers)
		got := taints.FirstUntolerated(ourTolerations[j:j+np], ours[i:i+nt], f.effects, o)
		if (got != nil) != found || found && theirTaint(*got) != want {
			t.Fatalf("%v on %v: got %v, Kubernetes %v (%v)", ourTolerations[j:j+np], ours[i:i+nt], got, want, found)
		}
		if !found {
			all++
		}
		if d.IntN(50) == 0 {
			compiled(t, ours[i:i+nt], ourTolerations[j:j+np], theirs[i:i+nt], theirTolerations[j:j+np], o)
		}
	}
	share(t, all, inputs())
}

// compiled asks a matcher what Kubernetes' filter and score plugins decide.
func compiled(t *testing.T, list []fairlead.Taint, tolerations []fairlead.Toleration, theirs []v1.Taint, theirTolerations []v1.Toleration, o *taints.Options) {
	t.Helper()
	m := matcher.NewMatcher(&matcher.Options{Options: *o})
	m.SetNode("n", list, false)
	m.SetPod("p", tolerations)
	v, _ := m.Verdict("p", "n")
	_, closed := corev1.FindMatchingUntoleratedTaint(logr.Discard(), theirs, theirTolerations, hard, o.ComparisonOperators)
	avoided := 0
	for i := range theirs {
		if theirs[i].Effect == v1.TaintEffectPreferNoSchedule && !corev1.TolerationsTolerateTaint(logr.Discard(), theirTolerations, &theirs[i], o.ComparisonOperators) {
			avoided++
		}
	}
	if v.Schedulable() == closed || v.Avoided() != avoided {
		t.Fatalf("%v on %v: %b, Kubernetes says closed %v, avoided %d", tolerations, list, v, closed, avoided)
	}
}

// change returns a text that is often a valid change.
func (d draw) change() string {
	if d.IntN(2) == 0 {
		return d.of("a", "b", "example.com/c") + d.of(":", "=:", "=v:") + d.of("NoSchedule", "NoExecute", "PreferNoSchedule") + d.of("", "", "-")
	}
	text := d.of("a", "b", "a", "example.com/c", "k_1.x", "Example.com/c", "", "a/b/c", "-a", "a-", "ключ", "a.", strings.Repeat("k", 60+d.IntN(6)),
		strings.Repeat("p", 250+d.IntN(6))+"/x", "a..b/c", "a-/c", "/c", "c/")
	text += d.of("", "", "=", "=v", "=v", "=5", "=v=w", "=-v", "="+strings.Repeat("v", 60+d.IntN(6)), "=v w")
	text += d.of("", ":NoSchedule", ":NoSchedule", ":NoExecute", ":PreferNoSchedule", ":", ":noschedule", ":NoSchedule:NoExecute", ":NoScheduleNoAdmit")
	text += d.of("", "", "", "-", "-", "--")
	if d.IntN(20) == 0 && text != "" {
		at := d.IntN(len(text))
		text = text[:at] + d.of("-", ":", "=", "/", "A", "\n", " ", "") + text[at:]
	}
	return text
}

// TestParse compares the parsing of changes, one to three in a command.
func TestParse(t *testing.T) {
	d := newDraw()
	accepted, rounds := 0, inputs()
	for range rounds {
		words := make([]string, 1+d.IntN(3)*d.IntN(2))
		for i := range words {
			words[i] = d.change()
		}
		adds, removes, err := utiltaints.ParseTaints(words)
		changes, ourErr := taints.ParseChanges(words)
		var clash *taints.ChangesError
		if errors.As(ourErr, &clash) && err == nil {
			if !clashes(adds, removes) { // kubectl checks that later
				t.Fatalf("%q: %v, and Kubernetes sees no clash", words, ourErr)
			}
			continue
		}
		if (err == nil) != (ourErr == nil) {
			t.Fatalf("%q: got %v, Kubernetes %v", words, ourErr, err)
		}
		if err != nil {
			continue
		}
		accepted++
		if clashes(adds, removes) {
			t.Fatalf("%q: no clash was seen", words)
		}
		for i, c := range changes {
			if c.String() != words[i] {
				t.Fatalf("%q is printed %q", words[i], c)
			}
			taint := theirTaint(c.Taint())
			list := &adds
			if c.Remove {
				list, taint.Value = &removes, ""
			}
			if len(*list) == 0 || (*list)[0] != taint {
				t.Fatalf("%q: got %v, Kubernetes %v %v", words, c, adds, removes)
			}
			*list = (*list)[1:]
		}
		if len(adds)+len(removes) > 0 {
			t.Fatalf("%q: Kubernetes has more: %v %v", words, adds, removes)
		}
	}
	t.Logf("%d commands, %.1f %% of them accepted", rounds, 100*float64(accepted)/float64(rounds))
	if accepted*5 < rounds {
		t.Error("fewer than a fifth")
	}
}

// clashes reports whether a taint is set and removed.
func clashes(adds, removes []v1.Taint) bool {
	for _, a := range adds {
		for _, r := range removes {
			if a.Key == r.Key && (r.Effect == "" || a.Effect == r.Effect) {
				return true
			}
		}
	}
	return false
}

// TestValidation compares what the API accepts. The texts of changes provide keys and
// values of every kind.
func TestValidation(t *testing.T) {
	d := newDraw()
	rounds := inputs() / 10
	valid, validTaints := 0, 0
	for range rounds {
		numbers := d.IntN(2) == 0
		tolerations := make([]fairlead.Toleration, 1+d.IntN(2))
		theirs := make([]core.Toleration, len(tolerations))
		for i := range tolerations {
			tol := d.toleration()
			if d.IntN(3) == 0 {
				tol = taints.Fix(fairlead.Taint{Key: d.of("a", "b"), Value: d.of("", "v"), Effect: fairlead.NoExecute})
			}
			if d.IntN(6) == 0 {
				tol.Key, _, _ = strings.Cut(d.change(), "=")
			}
			tolerations[i] = tol
			theirs[i] = core.Toleration{
				Key: tol.Key, Operator: core.TolerationOperator(tol.Operator), Value: tol.Value,
				Effect: core.TaintEffect(tol.Effect), TolerationSeconds: tol.TolerationSeconds,
			}
		}
		want := validation.ValidateTolerations(theirs, field.NewPath("spec", "tolerations"),
			validation.PodValidationOptions{AllowTaintTolerationComparisonOperators: numbers})
		got := taints.ValidateTolerations(tolerations, &taints.Options{ComparisonOperators: numbers})
		if (len(want) == 0) != (got == nil) {
			t.Fatalf("%v (numbers %v): got %v, Kubernetes %v", tolerations, numbers, got, want)
		}
		if got == nil {
			valid++
		}
		if sameTaints(t, d) {
			validTaints++
		}
	}
	if valid*5 < rounds || validTaints*5 < rounds {
		t.Error("fewer than a fifth")
	}
	t.Logf("%d inputs, %.1f %% of the tolerations and %.1f %% of the taints valid", rounds, 100*float64(valid)/float64(rounds), 100*float64(validTaints)/float64(rounds))
}

// sameTaints compares the verdicts on the taints of a node, and reports whether
// they are valid.
func sameTaints(t *testing.T, d draw) bool {
	t.Helper()
	list := make([]fairlead.Taint, d.IntN(3))
	node := &core.Node{}
	node.Name = "n1"
	for i := range list {
		list[i] = d.taint()
		if d.IntN(2) == 0 {
			list[i] = fairlead.Taint{Key: d.of("a", "b"), Value: d.of("", "v"), Effect: fairlead.NoSchedule}
		}
		if d.IntN(4) == 0 {
			list[i].Key, list[i].Value, _ = strings.Cut(d.change(), "=")
		}
		node.Spec.Taints = append(node.Spec.Taints, core.Taint{Key: list[i].Key, Value: list[i].Value, Effect: core.TaintEffect(list[i].Effect)})
	}
	want, got := validation.ValidateNode(node), taints.ValidateTaints(list, nil)
	if (len(want) == 0) != (got == nil) {
		t.Fatalf("%v: got %v, Kubernetes %v", list, got, want)
	}
	return got == nil
}

// TestCovers compares supersets. Ours are by what is matched, theirs by what is
// written; the test counts each known kind of difference, and fails on any other.
func TestCovers(t *testing.T) {
	d := newDraw()
	rounds, same, differ := inputs()/4, 0, map[string]int{}
	terms := func(t fairlead.Toleration) []core.Toleration {
		return []core.Toleration{{
			Key: t.Key, Operator: core.TolerationOperator(t.Operator), Value: t.Value,
			Effect: core.TaintEffect(t.Effect), TolerationSeconds: t.TolerationSeconds,
		}}
	}
	klog.SetLogger(logr.Discard())
	for range rounds {
		a, b := d.toleration(), d.toleration()
		numbers := d.IntN(2) == 0
		got := taints.Covers(a, b, &taints.Options{ComparisonOperators: numbers})
		want := utiltolerations.VerifyAgainstWhitelist(terms(b), terms(a))
		if got == want {
			same++
			continue
		}
		why := difference(a, b, got)
		if why == "" {
			t.Fatalf("%v covers %v (numbers %v): got %v, Kubernetes %v", a, b, numbers, got, want)
		}
		differ[why]++
	}
	t.Logf("%d inputs, %.2f %% the same; different: %v", rounds, 100*float64(same)/float64(rounds), differ)
}

func difference(a, b fairlead.Toleration, ours bool) string {
	odd := func(t fairlead.Toleration) bool { return t.Operator == "exists" || t.Operator == "In" }
	compares := func(t fairlead.Toleration) bool {
		return t.Operator == fairlead.TolerationLt || t.Operator == fairlead.TolerationGt
	}
	switch {
	case !ours && a.TolerationSeconds != nil && a.Effect == "":
		return "seconds of a toleration without an effect count"
	case ours && a.TolerationSeconds != nil:
		return "negative seconds are 0"
	case ours && (a.Operator == "" || b.Operator == ""):
		return "no operator is Equal"
	case ours && a.Key == "" && a.Operator != fairlead.TolerationExists:
		return "no key is any key, whatever the operator"
	case ours && (odd(a) || odd(b)):
		return "what matches nothing is covered"
	case ours && (compares(a) || compares(b)):
		return "numbers are compared"
	}
	return ""
}
