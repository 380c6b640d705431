package removal

// Replace says what becomes of the optional objects of a bundle when another
// one takes its place:
//
//  1. What the new bundle has under the same name is updated, and what it has
//     besides is created, in the order of the new bundle.
//  2. What only the old one has is deleted, in the order of the old bundle. An
//     object that changes its name is therefore made again.
//
// With no new objects all go, as with the CSV. CRDs are passed over: they stay.
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
