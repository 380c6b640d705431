package removal

// Replace returns what happens to the optional objects of a bundle when another
// bundle replaces it:
//
//  1. Objects that the old bundle has under the same name are updated, and other
//     objects of the new bundle are created, in the order of the new bundle.
//  2. Objects that only the old bundle has are deleted, in its order. An object
//     that is renamed is therefore created again.
//
// Without new objects all are deleted, as with the CSV. CRDs are skipped: they
// stay.
func Replace(old, new []Object) []Step {
	var steps []Step
	had, has := index(old), index(new)
	for _, o := range new {
		switch {
		case isDefinition(o):
		case had[o]:
			steps = append(steps, Step{Verb: Update, Object: o, Why: "both versions have it"})
		default:
			steps = append(steps, Step{Verb: Create, Object: o, Why: "only the new version has it"})
		}
	}
	for _, o := range old {
		if !has[o] && !isDefinition(o) {
			steps = append(steps, Step{Verb: Delete, Object: o, Why: "the new version does not have it"})
		}
	}
	return steps
}

func isDefinition(o Object) bool {
	return o.Group == "apiextensions.k8s.io" && o.Kind == "CustomResourceDefinition"
}

func index(objects []Object) map[Object]bool {
	m := make(map[Object]bool, len(objects))
	for _, o := range objects {
		m[o] = true
	}
	return m
}
