// Package leaves changes objects field by field, for tests of what compares them.
package leaves

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fill sets every field of what o points to, so deep that lists of objects have one element.
func Fill(o any) { fill(reflect.ValueOf(o).Elem(), 0) }

func fill(v reflect.Value, depth int) {
	switch {
	case depth > 7 || !v.CanSet():
	case v.Type() == reflect.TypeFor[metav1.Time]():
		v.Set(reflect.ValueOf(metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))))
	case v.Type() == reflect.TypeFor[resource.Quantity]():
		v.Set(reflect.ValueOf(resource.MustParse("2")))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	default:
		Alter(v)
	}
}

// Each calls f for every leaf of what o points to, with its path, such as .Spec.Taints[0].Key.
func Each(o any, f func(path string, leaf reflect.Value)) { each(reflect.ValueOf(o).Elem(), "", f) }

func each(v reflect.Value, path string, f func(string, reflect.Value)) {
	switch {
	case !v.CanSet():
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() != reflect.Struct:
		f(path, v)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		each(v.Elem(), path, f)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		for i := range v.Len() {
			each(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f)
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() && v.Type() != reflect.TypeFor[resource.Quantity]():
		for i := range v.NumField() {
			each(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	default:
		f(path, v)
	}
}

// Alter changes a leaf, and reports whether it can.
func Alter(v reflect.Value) bool {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(v.Interface().(time.Time).Add(time.Hour)))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		next := reflect.New(v.Type().Elem())
		next.Elem().Set(v.Elem())
		if !Alter(next.Elem()) {
			return false
		}
		v.Set(next)
	case v.Type() == reflect.TypeFor[map[string]string]():
		v.Set(reflect.ValueOf(map[string]string{"k": fmt.Sprint(v.Len(), v.Interface())}))
	default:
		return false
	}
	return true
}
