package olm

// Step is a change of one object of which an advice consists.
type Step struct {
	CSV          string // the CSV that is deleted, or ""
	Subscription string // otherwise the subscription that changes
	// Spec are the fields of the subscription's spec that change, as the API calls them, nil for
	// one that is removed. If the map is nil, the subscription is deleted.
	Spec map[string]any
}

// steps returns the changes as those of objects of the namespace; nil if some are not, such as a
// catalog that is added.
func (a *advisor) steps(changes []change) (list []Step) {
	t := a.trial(changes)
	if len(t.shown)+len(t.waived) > 0 {
		return nil
	}
	left := map[string]*Subscription{}
	for i := range t.req.Subscriptions {
		if s := &t.req.Subscriptions[i]; s.Namespace == a.base.Namespace {
			left[s.Name] = s
		}
	}
	for i := range a.base.Subscriptions {
		was := &a.base.Subscriptions[i]
		if was.Namespace != a.base.Namespace {
			continue
		}
		if now := left[was.Name]; now == nil {
			list = append(list, Step{Subscription: was.Name})
		} else if spec := changed(was, now); len(spec) > 0 {
			list = append(list, Step{Subscription: was.Name, Spec: spec})
		}
	}
	stay := map[string]bool{}
	for i := range t.req.Installed {
		if csv := &t.req.Installed[i]; csv.Namespace == a.base.Namespace {
			stay[csv.Name] = true
		}
	}
	for i := range a.base.Installed {
		if csv := &a.base.Installed[i]; csv.Namespace == a.base.Namespace && !stay[csv.Name] {
			list = append(list, Step{CSV: csv.Name})
		}
	}
	return list
}

// changed returns the fields of the spec in which two subscriptions differ.
func changed(was, now *Subscription) map[string]any {
	spec := map[string]any{}
	for _, f := range []struct{ name, was, now string }{
		{"name", was.Spec.Package, now.Spec.Package}, {"channel", was.Spec.Channel, now.Spec.Channel},
		{"source", was.Spec.Source, now.Spec.Source}, {"sourceNamespace", was.Spec.SourceNamespace, now.Spec.SourceNamespace},
		{"startingCSV", was.Spec.StartingCSV, now.Spec.StartingCSV},
	} {
		switch {
		case f.was == f.now:
		case f.now == "":
			spec[f.name] = nil
		default:
			spec[f.name] = f.now
		}
	}
	return spec
}
