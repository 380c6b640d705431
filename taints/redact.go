package taints

import (
	"fmt"

	"github.com/fairlead/fairlead"
)

// redact hides the keys and values of an explanation.
func (x *explainer) redact() {
	r := redactor{keys: map[string]string{}, values: map[string]string{}}
	for i := range x.Untolerated {
		u := &x.Untolerated[i]
		r.taint(&u.Taint)
		if u.Fix != nil {
			r.toleration(u.Fix)
		}
		if u.Nearest == nil {
			continue
		}
		r.toleration(&u.Nearest.Toleration)
		for j := range u.Nearest.Mismatches {
			r.mismatch(&u.Nearest.Mismatches[j])
		}
	}
	for i := range x.Tolerated {
		r.taint(&x.Tolerated[i].Taint)
		r.toleration(&x.Tolerated[i].Toleration)
	}
}

// redactor replaces texts by names, equal texts by the same name.
type redactor struct{ keys, values map[string]string }

func (r *redactor) taint(t *fairlead.Taint) {
	t.Key, t.Value, t.TimeAdded = r.key(t.Key), r.value(t.Value), nil
	t.Effect = fairlead.TaintEffect(r.word(string(t.Effect), string(fairlead.NoSchedule), string(fairlead.PreferNoSchedule), string(fairlead.NoExecute)))
}

func (r *redactor) toleration(t *fairlead.Toleration) {
	t.Key, t.Value = r.key(t.Key), r.value(t.Value)
	t.Effect = fairlead.TaintEffect(r.word(string(t.Effect), string(fairlead.NoSchedule), string(fairlead.PreferNoSchedule), string(fairlead.NoExecute)))
	t.Operator = fairlead.TolerationOperator(r.word(string(t.Operator), string(fairlead.TolerationEqual), string(fairlead.TolerationExists), string(fairlead.TolerationLt), string(fairlead.TolerationGt)))
}

func (r *redactor) mismatch(m *Mismatch) {
	switch m.Part {
	case "key":
		m.Has, m.Wants = r.key(m.Has), r.key(m.Wants)
	case "value":
		m.Has, m.Wants = r.value(m.Has), r.value(m.Wants)
	case "effect":
		m.Has = r.word(m.Has, string(fairlead.NoSchedule), string(fairlead.PreferNoSchedule), string(fairlead.NoExecute))
		m.Wants = r.word(m.Wants, string(fairlead.NoSchedule), string(fairlead.PreferNoSchedule), string(fairlead.NoExecute))
	default:
		m.Has = r.word(m.Has, string(fairlead.TolerationEqual), string(fairlead.TolerationExists), string(fairlead.TolerationLt), string(fairlead.TolerationGt))
	}
	m.Alike = false
}

func (r *redactor) key(s string) string {
	if s == "" || systemKey(s) {
		return s
	}
	return named(r.keys, s, "key")
}

func (r *redactor) value(s string) string {
	if s == "" {
		return s
	}
	return named(r.values, s, "value")
}

// word keeps known words, and hides others.
func (r *redactor) word(s string, known ...string) string {
	for _, k := range append(known, "") {
		if s == k {
			return s
		}
	}
	return "unknown"
}

func named(names map[string]string, s, kind string) string {
	if names[s] == "" {
		names[s] = fmt.Sprintf("%s-%d", kind, len(names)+1)
	}
	return names[s]
}
