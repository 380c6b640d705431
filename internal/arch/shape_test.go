package arch_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/quorum"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/taints/eviction"
)

// engine is the shape of one controller: its Step, its NewRunner, its policy's
// Check, and one action of each kind.
type engine struct {
	name      string
	step      any
	newRunner any
	kinds     []fairlead.Action
	// exempt is the path of a field that may contain what the shape forbids,
	// and why is the reason.
	exempt, why string
}

func engines() []engine {
	return []engine{
		{name: "lifecycle", step: lifecycle.Step, newRunner: lifecycle.NewRunner, kinds: kinds(lifecycle.State{}.Kinds())},
		{name: "drain", step: drain.Step, newRunner: drain.NewRunner, kinds: kinds(drain.State{}.Kinds())},
		{name: "quorum", step: quorum.Step, newRunner: quorum.NewRunner, kinds: kinds(quorum.State{}.Kinds())},
		{name: "eviction", step: eviction.Step, newRunner: eviction.NewRunner, kinds: kinds(eviction.State{}.Kinds())},
		{name: "cvo", step: cvo.Step, newRunner: cvo.NewRunner, kinds: kinds(cvo.State{}.Kinds())},
		{name: "rollout", step: rollout.Step, newRunner: rollout.NewRunner, kinds: kinds(rollout.State{}.Kinds())},
		{name: "plan", step: plan.Step, newRunner: plan.NewRunner, kinds: kinds(plan.State{}.Kinds())},
		{name: "extension", step: extension.Step, newRunner: extension.NewRunner, kinds: kinds(extension.State{}.Kinds())},
		{name: "install", step: install.Step, newRunner: install.NewRunner, kinds: kinds(install.State{}.Kinds()),
			exempt: "*install.World.Resolution", why: "the resolver's answer points into catalogs that are read when they are needed"},
	}
}

func kinds[A fairlead.Action](list []A) []fairlead.Action {
	out := make([]fairlead.Action, len(list))
	for i, a := range list {
		out[i] = a
	}
	return out
}

// TestShape checks that every engine has the same shape:
//
//	Step(state State, world *World, now time.Time, policy *Policy) Decision
//
// Nothing that is passed to Step can be called, waited on or locked; Decision
// is that of the root package; NewRunner may reject a policy.
func TestShape(t *testing.T) {
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			step := reflect.TypeOf(e.step)
			if step.NumIn() != 4 || step.NumOut() != 1 || step.In(2) != reflect.TypeFor[time.Time]() {
				t.Fatalf("Step is %v", step)
			}
			for i, want := range []string{"State", "*World", "Time", "*Policy"} {
				if got := strings.TrimPrefix(step.In(i).String(), "*"); got[strings.LastIndex(got, ".")+1:] != strings.TrimPrefix(want, "*") || step.In(i).Kind() == reflect.Pointer != strings.HasPrefix(want, "*") {
					t.Errorf("argument %d of Step is %v, want %s", i, step.In(i), want)
				}
			}
			if d := step.Out(0); d.PkgPath() != "github.com/fairlead/fairlead" || !strings.HasPrefix(d.Name(), "Decision[") {
				t.Errorf("Step returns %v, want a fairlead.Decision", d)
			}
			runner := reflect.TypeOf(e.newRunner)
			if n := runner.NumOut(); n != 2 || runner.Out(1) != reflect.TypeFor[error]() || runner.In(runner.NumIn()-1) != reflect.TypeFor[*fairlead.RunnerOptions]() || runner.In(runner.NumIn()-2) != step.In(3) {
				t.Errorf("NewRunner is %v, want one of (..., *Policy, *fairlead.RunnerOptions) (*Runner, error)", runner)
			}
			if _, ok := reflect.New(step.In(3).Elem()).Interface().(interface{ Check() error }); !ok {
				t.Errorf("%v has no method Check() error", step.In(3))
			}
			for _, i := range []int{0, 1, 3} {
				for _, f := range impure(step.In(i), step.In(i).String(), nil) {
					if e.exempt == "" || !strings.HasPrefix(f, e.exempt) {
						t.Errorf("%s: Step could reach beyond its arguments", f)
					}
				}
			}
		})
	}
}

// impure lists what of a type can be called, waited on or locked, by path.
func impure(t reflect.Type, path string, seen []reflect.Type) (found []string) {
	for _, s := range seen {
		if s == t {
			return nil
		}
	}
	seen = append(seen, t)
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		if t == reflect.TypeFor[error]() {
			return nil // is only a message
		}
		return []string{path + " " + t.String()}
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if t.Kind() == reflect.Map {
			found = impure(t.Key(), path+"[key]", seen)
		}
		return append(found, impure(t.Elem(), path, seen)...)
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return nil
		}
		if strings.HasPrefix(t.PkgPath(), "sync") {
			return []string{path + " " + t.String()}
		}
		for i := range t.NumField() {
			found = append(found, impure(t.Field(i).Type, path+"."+t.Field(i).Name, seen)...)
		}
	}
	return found
}

// TestShapeJSON fills states, worlds, policies and actions at random, and
// checks that they survive a round trip through JSON.
func TestShapeJSON(t *testing.T) {
	for _, e := range engines() {
		step := reflect.TypeOf(e.step)
		for i, what := range map[int]string{0: "State", 1: "World", 3: "Policy"} {
			t.Run(e.name+"/"+what, func(t *testing.T) { roundTrip(t, step.In(i)) })
		}
		for _, a := range e.kinds {
			t.Run(fmt.Sprintf("%s/%s", e.name, a.Key().Kind), func(t *testing.T) {
				if name := reflect.TypeOf(a).Name(); a.Key().Kind != name {
					t.Errorf("the kind of %s is %q", name, a.Key().Kind)
				}
				roundTrip(t, reflect.TypeOf(a))
				if line := a.String(); line == "" || strings.Contains(line, "\n") {
					t.Errorf("its text is %q, want one line", line)
				}
			})
		}
	}
}

func roundTrip(t *testing.T, typ reflect.Type) {
	t.Helper()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		v := reflect.New(typ)
		fill(r, v.Elem(), 6, true)
		data, err := json.Marshal(v.Interface())
		if err != nil {
			t.Fatalf("%v cannot be written: %v", typ, err)
		}
		back := reflect.New(typ)
		if err := json.Unmarshal(data, back.Interface()); err != nil {
			t.Fatalf("%v cannot be read: %v\n%s", typ, err, data)
		}
		again, err := json.Marshal(back.Interface())
		if err != nil || string(again) != string(data) {
			t.Fatalf("%v, %v:\n%.2000s\ncame back as\n%.2000s", typ, err, data, again)
		}
		if path := differ(v.Elem(), back.Elem(), typ.String()); path != "" {
			t.Fatalf("%s does not come back from JSON\n%.2000s", path, data)
		}
	}
}

// differ returns the path of the first exported field that differs. Nil and empty
// lists count as equal.
func differ(a, b reflect.Value, path string) string {
	if a.Type() == reflect.TypeFor[time.Time]() {
		if !a.Interface().(time.Time).Equal(b.Interface().(time.Time)) {
			return path
		}
		return ""
	}
	if a.CanAddr() && a.Addr().CanInterface() && strings.Count(path, ".") > 1 {
		if _, own := a.Addr().Interface().(json.Unmarshaler); own {
			return "" // its JSON was compared, and it promises no more
		}
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() || f.Anonymous {
				if p := differ(a.Field(i), b.Field(i), path+"."+f.Name); p != "" {
					return p
				}
			}
		}
		return ""
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return path
			}
			return ""
		}
		return differ(a.Elem(), b.Elem(), path)
	case reflect.Slice:
		if a.Type() == reflect.TypeFor[json.RawMessage]() {
			return ""
		}
		fallthrough
	case reflect.Array:
		if a.Len() != b.Len() {
			return path
		}
		for i := range a.Len() {
			if p := differ(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); p != "" {
				return p
			}
		}
		return ""
	case reflect.Map:
		if a.Len() != b.Len() {
			return path
		}
		for _, k := range a.MapKeys() {
			if other := b.MapIndex(k); !other.IsValid() {
				return path
			} else if p := differ(a.MapIndex(k), other, path+"["+k.String()+"]"); p != "" {
				return p
			}
		}
		return ""
	case reflect.Interface, reflect.Func:
		return ""
	}
	if !a.CanInterface() {
		return ""
	}
	if a.Interface() != b.Interface() {
		return path
	}
	return ""
}

// fill sets a value at random, and leaves about half of what can be empty
// empty.
func fill(r *rand.Rand, v reflect.Value, depth int, top bool) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(1.7e9+r.Int64N(1e8), 0).UTC()))
		return
	case time.Duration:
		v.SetInt(r.Int64N(int64(time.Hour)))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{"a":1}`))
		return
	}
	if u, ok := v.Addr().Interface().(json.Unmarshaler); ok && !top {
		for _, data := range []string{`{"name":"x"}`, `{}`, `"x"`, `5`} { // a form that it accepts
			if u.UnmarshalJSON([]byte(data)) == nil {
				return
			}
		}
	}
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", "a", "b-1", "x/y"}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64N(100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64N(100))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(r.IntN(100)))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(r, v.Field(i), depth-1, false)
			}
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1, false)
		}
	case reflect.Slice:
		if n := r.IntN(3); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i), depth-1, false)
			}
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && r.IntN(2) == 0 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString("k")
			fill(r, value, depth-1, false)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	}
}
