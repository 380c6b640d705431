package olm

import (
	"errors"
	"fmt"
	"slices"
)

// Advice is found by trying: at most this many changes are tried for a
// subscription, each a resolution of its own.
const maxTrials = 8

// How advice begins that was tried.
const (
	adviceRemove  = "remove subscription "
	adviceChannel = "subscribe to channel "
)

// advise lists what could be done about a conflict: another channel, one
// subscription less, another owner for an installed operator, another catalog.
func (x *explainer) advise() ([]string, error) {
	var all []string
	for _, s := range x.subs {
		text, err := x.otherChannel(s)
		if err != nil {
			return nil, err
		}
		if text != "" {
			all = append(all, text)
		}
	}
	if len(x.q.subs) > 1 {
		for _, s := range x.subs {
			ok, err := x.works(without(x.q.subs, s))
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, fmt.Sprintf(adviceRemove+"%s; all the others can then be served", s.Name))
			}
		}
	}
	for _, c := range x.csvs {
		all = append(all, fmt.Sprintf("delete csv %s, or subscribe to its package so that it can be updated", c.name))
	}
	for _, n := range x.unmet {
		if text := "add a catalog that offers " + n.need.String(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all, nil
}

// otherChannel looks for a channel of the package with which everything can be
// served.
func (x *explainer) otherChannel(s *subscription) (string, error) {
	if s.Spec.Channel == "" {
		return "", nil
	}
	named, _ := x.q.sourcesOf(s)
	trials := 0
	for _, src := range named {
		p := src.pkg(s.Spec.Package)
		if p == nil {
			continue
		}
		for _, ch := range p.channels {
			if ch.name == s.Spec.Channel || ch.err != nil {
				continue
			}
			if trials++; trials > maxTrials {
				return "", nil
			}
			spec := *s.Subscription
			spec.Spec.Channel = ch.name
			other := &subscription{Subscription: &spec, current: s.current}
			if err := x.q.findCandidates(other); err != nil {
				continue
			}
			subs := slices.Clone(x.q.subs)
			subs[slices.Index(subs, s)] = other
			ok, err := x.works(subs)
			if err != nil {
				return "", err
			}
			if ok {
				return fmt.Sprintf(adviceChannel+"%s of package %s, which can be served", ch.name, p.name), nil
			}
		}
	}
	return "", nil
}

// works reports whether the namespace can be resolved with these subscriptions.
func (x *explainer) works(subs []*subscription) (bool, error) {
	trial := *x.q
	trial.subs = subs
	_, err := trial.solve(x.ctx)
	var unsat *UnsatError
	if errors.As(err, &unsat) {
		return false, nil
	}
	return err == nil, err
}

func without(subs []*subscription, s *subscription) []*subscription {
	return slices.DeleteFunc(slices.Clone(subs), func(o *subscription) bool { return o == s })
}
