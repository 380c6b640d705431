//go:build !nocel

package rule

import (
	"cmp"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// toValue converts decoded JSON to a value of the language.
func toValue(decoded any) ref.Val {
	switch v := decoded.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = toValue(member)
		}
		return orderedMap{types.NewStringInterfaceMap(types.DefaultTypeAdapter, v)}
	case []any:
		elements := make([]ref.Val, len(v))
		for i, element := range v {
			elements[i] = toValue(element)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, elements)
	}
	return types.DefaultTypeAdapter.NativeToValue(decoded)
}

// orderedMap is a map that is iterated over in the order of its keys. The
// language's own maps are iterated over in the random order of Go maps, which
// shows in what map() and filter() return, in which error comes first, and in
// what a rule costs.
type orderedMap struct{ traits.Mapper }

// Iterator implements traits.Iterable.
func (m orderedMap) Iterator() traits.Iterator {
	var keys []ref.Val
	for it := m.Mapper.Iterator(); it.HasNext() == types.True; {
		keys = append(keys, it.Next())
	}
	slices.SortFunc(keys, compareKeys)
	return types.NewRefValList(types.DefaultTypeAdapter, keys).Iterator()
}

// compareKeys orders keys by the name of their type, then by value.
func compareKeys(a, b ref.Val) int {
	if c := cmp.Compare(a.Type().TypeName(), b.Type().TypeName()); c != 0 {
		return c
	}
	if comparer, ok := a.(traits.Comparer); ok {
		if order, ok := comparer.Compare(b).(types.Int); ok {
			return int(order)
		}
	}
	return 0
}
