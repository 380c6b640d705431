package crd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/words"
)

// Structural is a [Validator] that supports the keywords of structural schemas:
// type, nullable, enum, required, properties, additionalProperties, items, the
// bounds, multipleOf, uniqueItems, pattern, allOf, anyOf, oneOf, not, and of the
// extensions x-kubernetes-int-or-string. A field with a default is never
// missing. Formats and CEL rules are not checked: if you rely on them, ask the
// API server. Fields that the schema does not specify are valid, since the
// server drops them.
//
// The zero value is ready to use. An error names the first path that is wrong,
// in the order of member names.
type Structural struct{}

// Validate implements Validator.
func (Structural) Validate(data, schema json.RawMessage) error {
	value, err := number(data)
	if err != nil {
		return fmt.Errorf("the object is not JSON: %w", err)
	}
	rules, err := number(schema)
	if err != nil {
		return fmt.Errorf("the schema is not JSON: %w", err)
	}
	return check("", value, rules, 0)
}

// maxDepth is how deep values may be nested.
const maxDepth = 500

// number decodes JSON and keeps numbers exact.
func number(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

func wrong(path, format string, args ...any) error {
	if path == "" {
		path = "the object"
	}
	return fmt.Errorf("%s %s", path, fmt.Sprintf(format, args...))
}

// check returns what is wrong with a value.
func check(path string, value, schema any, depth int) error {
	rules, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if depth > maxDepth {
		return wrong(path, "is nested deeper than %d levels", maxDepth)
	}
	if nullable, _ := rules["nullable"].(bool); value == nil && nullable {
		return nil
	}
	if err := checkType(path, value, rules); err != nil {
		return err
	}
	if list, ok := rules["enum"].([]any); ok && !slices.ContainsFunc(list, func(o any) bool { return same(o, value) }) {
		return wrong(path, "is %s, which is not among %s", text(value), text(list))
	}
	var err error
	switch v := value.(type) {
	case map[string]any:
		err = checkObject(path, v, rules, depth)
	case []any:
		err = checkArray(path, v, rules, depth)
	case string:
		err = checkString(path, v, rules)
	case json.Number:
		err = checkNumber(path, v, rules)
	}
	if err != nil {
		return err
	}
	return checkSome(path, value, rules, depth)
}

// same compares values; numbers by value, not as written.
func same(a, b any) bool {
	x, xok := a.(json.Number)
	y, yok := b.(json.Number)
	if xok && yok {
		p, q := exact(x), exact(y)
		return p != nil && q != nil && p.Cmp(q) == 0
	}
	return reflect.DeepEqual(a, b)
}

// exact returns a number, or nil if its exponent has more than four digits.
func exact(n json.Number) *big.Rat {
	if _, exponent, ok := strings.Cut(strings.ToLower(n.String()), "e"); ok && len(strings.TrimLeft(exponent, "+-0")) > 4 {
		return nil
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil
	}
	return r
}

func checkType(path string, value any, rules map[string]any) error {
	is := ""
	switch v := value.(type) {
	case nil:
		is = "null"
	case bool:
		is = "boolean"
	case string:
		is = "string"
	case json.Number:
		is = "number"
		if r := exact(v); r != nil && r.IsInt() {
			is = "integer"
		}
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	}
	if either, _ := rules["x-kubernetes-int-or-string"].(bool); either {
		if is == "integer" || is == "string" {
			return nil
		}
		return wrong(path, "is of type %s, and must be integer or string", is)
	}
	want, _ := rules["type"].(string)
	if want == "" || want == is || want == "number" && is == "integer" {
		return nil
	}
	return wrong(path, "is of type %s, and must be %s", is, want)
}

func checkObject(path string, value, rules map[string]any, depth int) error {
	properties, _ := rules["properties"].(map[string]any)
	required, _ := rules["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		field, _ := properties[name].(map[string]any)
		_, defaulted := field["default"]
		if _, there := value[name]; !there && !defaulted {
			return wrong(words.Field(path, name), "is required")
		}
	}
	if err := within(path, "properties", len(value), rules, "minProperties", "maxProperties"); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		schema, known := properties[name]
		if !known {
			schema = rules["additionalProperties"]
			if no, stated := schema.(bool); stated && !no {
				return wrong(words.Field(path, name), "is not allowed")
			}
		}
		if err := check(words.Field(path, name), value[name], schema, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func checkArray(path string, value []any, rules map[string]any, depth int) error {
	if err := within(path, "items", len(value), rules, "minItems", "maxItems"); err != nil {
		return err
	}
	once, _ := rules["uniqueItems"].(bool)
	seen := make(map[string]bool, len(value))
	for i, item := range value {
		if once && seen[text(item)] {
			return wrong(fmt.Sprintf("%s[%d]", path, i), "is there twice")
		}
		seen[text(item)] = true
		if err := check(fmt.Sprintf("%s[%d]", path, i), item, rules["items"], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func checkString(path, value string, rules map[string]any) error {
	if err := within(path, "characters", utf8.RuneCountInString(value), rules, "minLength", "maxLength"); err != nil {
		return err
	}
	pattern, ok := rules["pattern"].(string)
	if !ok {
		return nil
	}
	p, err := regexp.Compile(pattern)
	if err != nil {
		return wrong(path, "has a pattern that cannot be read: %v", err)
	}
	if !p.MatchString(value) {
		return wrong(path, "is %q, which does not match %s", value, pattern)
	}
	return nil
}

func checkNumber(path string, value json.Number, rules map[string]any) error {
	v := exact(value)
	bound := func(key string) *big.Rat {
		n, ok := rules[key].(json.Number)
		if !ok {
			return nil
		}
		return exact(n)
	}
	if v == nil {
		return wrong(path, "is %s, which is beyond all bounds", value)
	}
	without := func(key string) bool { on, _ := rules[key].(bool); return on }
	if b := bound("minimum"); b != nil && (v.Cmp(b) < 0 || v.Cmp(b) == 0 && without("exclusiveMinimum")) {
		return wrong(path, "is %s, and the minimum is %s", value, rules["minimum"])
	}
	if b := bound("maximum"); b != nil && (v.Cmp(b) > 0 || v.Cmp(b) == 0 && without("exclusiveMaximum")) {
		return wrong(path, "is %s, and the maximum is %s", value, rules["maximum"])
	}
	if b := bound("multipleOf"); b != nil && b.Sign() != 0 && !new(big.Rat).Quo(v, b).IsInt() {
		return wrong(path, "is %s, which is not a multiple of %s", value, rules["multipleOf"])
	}
	return nil
}

// within checks a count against two bounds.
func within(path, what string, n int, rules map[string]any, low, high string) error {
	least, most := big.NewRat(int64(n), 1), big.NewRat(int64(n), 1)
	if b, ok := rules[low].(json.Number); ok && exact(b) != nil && least.Cmp(exact(b)) < 0 {
		return wrong(path, "has %d %s, and must have %s or more", n, what, b)
	}
	if b, ok := rules[high].(json.Number); ok && exact(b) != nil && most.Cmp(exact(b)) > 0 {
		return wrong(path, "has %d %s, and must have %s or fewer", n, what, b)
	}
	return nil
}

// checkSome checks the keywords that combine schemas.
func checkSome(path string, value any, rules map[string]any, depth int) error {
	valid := func(key string) (n, of int, last error) {
		list, _ := rules[key].([]any)
		for _, schema := range list {
			if err := check(path, value, schema, depth+1); err != nil {
				last = err
			} else {
				n++
			}
		}
		return n, len(list), last
	}
	if n, of, err := valid("allOf"); n < of {
		return err
	}
	if n, of, err := valid("anyOf"); of > 0 && n == 0 {
		return wrong(path, "is valid under none of %d schemas, the last of which says: %v", of, err)
	}
	if n, of, _ := valid("oneOf"); of > 0 && n != 1 {
		return wrong(path, "is valid under %d of %d schemas, and must be under one", n, of)
	}
	if not, ok := rules["not"]; ok && check(path, value, not, depth+1) == nil {
		return wrong(path, "is what it must not be: %s", text(not))
	}
	return nil
}
