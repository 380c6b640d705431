package doc

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/fairlead/fairlead/internal/words"
)

// Mismatch is a value that does not fit the Go type it is decoded into.
type Mismatch struct {
	Value *Value // the value at fault, or an unknown member
	Steps []any  // the keys (string) and indices (int) that lead to it
	Want  string // the expected JSON type; "" for an unknown field
	Near  string // for an unknown field: the known name it resembles, or ""
}

// Path returns the path of the value, as in
// spec.install.spec.deployments[0].name.
func (m *Mismatch) Path() string {
	var b strings.Builder
	for i, step := range m.Steps {
		switch step := step.(type) {
		case int:
			b.WriteString("[" + strconv.Itoa(step) + "]")
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// Error returns where the value is, what it is, and what was expected.
func (m *Mismatch) Error() string {
	path := m.Path()
	if m.Want == "" {
		return "there is no field " + path
	}
	if path == "" {
		path = "the document"
	}
	return path + " is " + m.Value.Describe() + ", not " + article(m.Want)
}

// Hint returns how to fix it, or "" if that is unknown.
func (m *Mismatch) Hint() string {
	switch {
	case m.Want == "" && m.Near != "":
		return "write " + m.Near
	case m.Want == "":
		return ""
	case m.Want == "string" && m.Value.Kind != '{' && m.Value.Kind != '[':
		return "put it in quotes: \"" + string(m.Value.Raw) + "\""
	}
	return "write " + article(m.Want) + " there"
}

// Decode fills into, a pointer, from v as json.Unmarshal would, but returns
// every value that does not fit and not only the first. Fields whose values do
// not fit are left unchanged; the others are filled.
//
//   - A field takes the member that is spelled as its json tag or, if there is
//     none, one that differs only in the case of letters.
//   - With [Exact], a different case of letters is a fault, with an empty Want,
//     and the member is ignored.
//   - null leaves a field unchanged.
//   - A field of type json.RawMessage takes a copy of the text, one of type
//     *Value the value itself, and one of type [AnyText] nothing.
//   - With [Strict], members of objects for which there is no field are also
//     returned, with an empty Want.
//   - With [Loose], numbers and truth values are accepted where text is
//     expected, as by tools that convert YAML to JSON for a type they know.
//
// Types other than structs, slices, maps with string keys, pointers, strings,
// booleans, integers and float64 are not supported and panic: the type comes
// from the program, never from input.
func Decode(v *Value, into any, mode Mode) []*Mismatch {
	d := decoder{mode: mode}
	d.value(v, reflect.ValueOf(into).Elem())
	return d.faults
}

// Mode is how strictly [Decode] compares a value with a type.
type Mode uint8

// The modes, which can be combined with |.
const (
	Strict Mode = 1 << iota // unknown fields are faults
	Exact                   // field names in a different case of letters are faults
	Loose                   // numbers and truth values are accepted where text is expected
)

// AnyText is the type of a field that must be text but whose value is not used.
type AnyText struct{}

type decoder struct {
	mode   Mode
	path   []decoderStep
	faults []*Mismatch
}

// decoderStep is a key, or an index if there is no key. (Steps are boxed only when
// there is a fault.)
type decoderStep struct {
	key   string
	index int // -1 for a key
}

func (d *decoder) steps() []any {
	if len(d.path) == 0 {
		return nil
	}
	list := make([]any, len(d.path))
	for i, s := range d.path {
		if list[i] = s.key; s.index >= 0 {
			list[i] = s.index
		}
	}
	return list
}

func (d *decoder) enter(key string) { d.path = append(d.path, decoderStep{key, -1}) }
func (d *decoder) enterIndex(i int) { d.path = append(d.path, decoderStep{"", i}) }
func (d *decoder) leave()           { d.path = d.path[:len(d.path)-1] }

var (
	rawType   = reflect.TypeFor[json.RawMessage]()
	valueType = reflect.TypeFor[*Value]()
	textType  = reflect.TypeFor[AnyText]()
)

func (d *decoder) value(v *Value, to reflect.Value) {
	switch to.Type() {
	case rawType:
		to.SetBytes(v.JSON())
		return
	case valueType:
		to.Set(reflect.ValueOf(v))
		return
	}
	if v.Kind == 'n' {
		return
	}
	if to.Type() == textType {
		if v.Kind != '"' && (d.mode&Loose == 0 || v.Kind == '{' || v.Kind == '[') {
			d.fault(v, "string")
		}
		return
	}
	switch to.Kind() {
	case reflect.Pointer:
		p := reflect.New(to.Type().Elem())
		d.value(v, p.Elem())
		to.Set(p)
	case reflect.Struct:
		d.fields(v, to)
	case reflect.Map:
		d.entries(v, to)
	case reflect.Slice:
		d.elements(v, to)
	case reflect.String:
		text, ok := v.Text()
		if !ok && d.mode&Loose != 0 {
			text, ok = v.Scalar()
		}
		if ok {
			to.SetString(text)
		} else {
			d.fault(v, "string")
		}
	case reflect.Bool:
		if v.Kind == 't' || v.Kind == 'f' {
			to.SetBool(v.Kind == 't')
		} else {
			d.fault(v, "boolean")
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(string(v.Raw), 10, to.Type().Bits())
		if v.Kind != '0' || err != nil {
			d.fault(v, "integer")
		} else {
			to.SetInt(n)
		}
	case reflect.Float64:
		f, err := strconv.ParseFloat(string(v.Raw), 64)
		if v.Kind != '0' || err != nil {
			d.fault(v, "number")
		} else {
			to.SetFloat(f)
		}
	default:
		panic("doc: Decode into " + to.Type().String())
	}
}

func (d *decoder) fault(v *Value, want string) {
	d.faults = append(d.faults, &Mismatch{Value: v, Steps: d.steps(), Want: want})
}

func (d *decoder) fields(v *Value, to reflect.Value) {
	if v.Kind != '{' {
		d.fault(v, "object")
		return
	}
	fields := fieldsOf(to.Type())
	for i := range v.Members {
		m := &v.Members[i]
		at, folded := d.find(v, m.Key, fields)
		d.enter(m.Key)
		switch {
		case at >= 0 && (!folded || d.mode&Exact == 0):
			d.value(m, to.FieldByIndex(fields.list[at].index))
		case at >= 0:
			d.unknown(m, fields.list[at].name)
		case d.mode&Strict != 0:
			names := make([]string, len(fields.list))
			for f := range fields.list {
				names[f] = fields.list[f].name
			}
			d.unknown(m, words.Nearest(m.Key, names))
		}
		d.leave()
	}
}

// find returns the index of the field that the member key of v goes into, or
// -1, and whether it differs in the case of letters.
func (d *decoder) find(v *Value, key string, fields *fields) (at int, folded bool) {
	if at, ok := fields.byName[key]; ok {
		return at, false
	}
	at = -1
	for _, f := range fields.byFold[fold(key)] {
		if v.member(fields.list[f].name) == nil {
			at = f
		}
	}
	return at, true
}

func (d *decoder) unknown(m *Value, meant string) {
	d.faults = append(d.faults, &Mismatch{Value: m, Steps: d.steps(), Near: meant})
}

type field struct {
	name  string
	index []int // see [reflect.Value.FieldByIndex]
}

// fields are the fields of a struct type, as used in decoding.
type fields struct {
	list   []field
	byName map[string]int   // the first field of each name
	byFold map[string][]int // the fields whose names differ only in the case of letters
}

// fold returns the same text for all strings that [strings.EqualFold] treats as
// equal to s. It is s itself if that is lower case.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return unicode.ToLower(least)
	}, s)
}

// knownFields caches the *fields of each type that was decoded: types never
// change, and inspecting one takes longer than decoding most values.
var knownFields sync.Map

// fieldsOf lists the fields of a struct with their JSON names, including those
// of embedded structs.
func fieldsOf(t reflect.Type) *fields {
	if known, ok := knownFields.Load(t); ok {
		return known.(*fields)
	}
	all := &fields{list: listFields(t, nil), byName: map[string]int{}, byFold: map[string][]int{}}
	for i, f := range all.list {
		if _, ok := all.byName[f.name]; !ok {
			all.byName[f.name] = i
		}
		all.byFold[fold(f.name)] = append(all.byFold[fold(f.name)], i)
	}
	knownFields.Store(t, all)
	return all
}

func listFields(t reflect.Type, outer []int) []field {
	var all []field
	for i := range t.NumField() {
		f, index := t.Field(i), append(slices.Clip(outer), i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, listFields(f.Type, index)...)
		case name != "-" && name != "" && f.IsExported():
			all = append(all, field{name, index})
		}
	}
	return all
}

func (d *decoder) entries(v *Value, to reflect.Value) {
	if v.Kind != '{' {
		d.fault(v, "object")
		return
	}
	if to.IsNil() {
		to.Set(reflect.MakeMapWithSize(to.Type(), len(v.Members)))
	}
	for i := range v.Members {
		m := &v.Members[i]
		d.enter(m.Key)
		faults := len(d.faults)
		e := reflect.New(to.Type().Elem()).Elem()
		if d.value(m, e); len(d.faults) == faults {
			to.SetMapIndex(reflect.ValueOf(m.Key).Convert(to.Type().Key()), e)
		}
		d.leave()
	}
}

func (d *decoder) elements(v *Value, to reflect.Value) {
	if v.Kind != '[' {
		d.fault(v, "array")
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), len(v.Members), len(v.Members)))
	for i := range v.Members {
		d.enterIndex(i)
		d.value(&v.Members[i], to.Index(i))
		d.leave()
	}
}
