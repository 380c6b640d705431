package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// source is the catalog of a namespace.
func source(namespace string) olm.SourceKey {
	return olm.SourceKey{Name: "catalog", Namespace: namespace}
}

// publish has the catalog of a namespace hold what is installed, and what is offered.
func (op *installer) publish(ctx context.Context, name string, offers []string) error {
	var text strings.Builder
	add := func(doc map[string]any) {
		line, err := json.Marshal(doc)
		if err != nil {
			panic(err) // unreachable: plain data
		}
		text.Write(append(line, '\n'))
	}
	s := op.namespaces[name]
	for _, i := range s.operators {
		o := &op.y.model.operators[i]
		is := op.y.input.Situation.Operators[i].Installed
		entries, last := []map[string]string{{"name": is}}, is
		add(op.bundle(o, is))
		for _, v := range op.hops(i, offers) {
			entries = append(entries, map[string]string{"name": v, "replaces": last, "skipRange": o.Versions[o.version(is)].Version})
			add(op.bundle(o, v))
			last = v
		}
		add(map[string]any{"schema": "olm.package", "name": o.Package, "defaultChannel": "stable"})
		add(map[string]any{"schema": "olm.channel", "package": o.Package, "name": "stable", "entries": entries})
	}
	s.offered, s.look = strings.Join(offers, " "), true
	c, err := catalog.Open(ctx, inMemory(map[string]string{"catalog.json": text.String()}), nil)
	if err != nil {
		return fmt.Errorf("the operators of the namespace %s make no catalog: %w", name, err)
	}
	own := olm.Source{SourceKey: source(name), Catalog: c}
	op.backend.Sources = append(slices.DeleteFunc(slices.Clone(op.backend.Sources), func(s olm.Source) bool { return s.SourceKey == own.SourceKey }), own)
	s.resolver, err = olm.NewResolver([]olm.Source{own}, nil)
	return err
}

// hops are the versions that the catalog leads an operator to, the oldest first: all of
// the minor version that runs if one of them is offered, and nothing else if the others
// that it depends on must take part.
func (op *installer) hops(i int, offers []string) (to []string) {
	o := &op.y.model.operators[i]
	is := o.version(op.y.input.Situation.Operators[i].Installed)
	cv := op.y.releases.Version("version")
	at, _ := parseMinor(cv.Runs())
	asked := false
	for _, k := range o.byVersion {
		name := o.Versions[k].Name
		for _, x := range o.hops {
			wanted := slices.Contains(offers, name)
			if x.from == is && x.to == k && (wanted || !op.y.model.entangled(i) && (x.minors == nil || slices.Contains(x.minors, at))) {
				to, asked = append(to, name), asked || wanted
				break
			}
		}
	}
	if !asked {
		return nil
	}
	return to
}

// bundle is a version of an operator, which requires of others what it did not lack at
// first.
func (op *installer) bundle(o *operator, name string) map[string]any {
	type object = map[string]any
	k := o.version(name)
	props := []object{{"type": "olm.package", "value": object{"packageName": o.Package, "version": o.Versions[k].Version}}}
	for _, q := range o.requires[k] {
		var any []object
		for _, i := range slices.Sorted(maps.Keys(q.by)) {
			p := &op.y.model.operators[i]
			var good []string
			for n, is := range q.by[i] {
				if is {
					good = append(good, p.Versions[n].Version)
				}
			}
			if good != nil {
				any = append(any, object{"package": object{"packageName": p.Package, "versionRange": strings.Join(good, " || ")}})
			}
		}
		if any != nil && !q.lacking {
			props = append(props, object{"type": "olm.constraint", "value": object{"failureMessage": "it requires " + q.text, "any": object{"constraints": any}}})
		}
	}
	return object{"schema": "olm.bundle", "package": o.Package, "name": name, "image": "example.com/" + o.Package, "properties": props}
}
