package olm_test

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestPartial compares what PartialOK serves with all sets of subscriptions,
// tried one by one: no larger set can be served, and the set that is served
// gets the same answer as without the others.
func TestPartial(t *testing.T) {
	left, base := 0, 0
	for b := range batches(t, long.N(150, 20_000)) {
		whole, err := olm.NewResolver(b.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := olm.NewResolver(b.sources, &olm.Options{PartialOK: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range b.worlds {
			req := w.request()
			got, err := parts.Resolve(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			served, blocked := servedBy(got)
			if blocked == 0 {
				continue
			}
			left++
			if most := mostServed(t, whole, req); most < 0 {
				base++ // the installed operators themselves conflict: only their part is left out
			} else if most != served {
				t.Fatalf("%d subscriptions are served, and %d could be:\n%v", served, most, w)
			} else {
				sameServed(t, whole, req, got)
			}
		}
	}
	if left < 50 || base == left {
		t.Errorf("%d worlds in part, %d in conflict before", left, base)
	}
	t.Logf("%d worlds served in part, %d of them in conflict before", left, base)
}

func servedBy(res *olm.Resolution) (served, blocked int) {
	for _, o := range res.Subscriptions {
		if o.Blocked == nil {
			served++
		} else {
			blocked++
		}
	}
	return served, blocked
}

// mostServed tries all sets of subscriptions and returns the size of the
// largest that can be served; -1 if none can.
func mostServed(t *testing.T, r *olm.Resolver, req *olm.Request) int {
	most := -1
	for set := range 1 << len(req.Subscriptions) {
		n := bits.OnesCount(uint(set))
		if n <= most {
			continue
		}
		some := *req
		some.Subscriptions = nil
		for i, s := range req.Subscriptions {
			if set&(1<<i) != 0 {
				some.Subscriptions = append(some.Subscriptions, s)
			}
		}
		_, err := r.Resolve(context.Background(), &some)
		var unsat *olm.UnsatError
		switch {
		case err == nil:
			most = n
		case !errors.As(err, &unsat):
			t.Fatal(err)
		}
	}
	return most
}

// sameServed compares an answer with the one for only the subscriptions that it
// serves.
func sameServed(t *testing.T, r *olm.Resolver, req *olm.Request, got *olm.Resolution) {
	some := *req
	some.Subscriptions = slices.DeleteFunc(slices.Clone(req.Subscriptions), func(s olm.Subscription) bool {
		return slices.ContainsFunc(got.Subscriptions, func(o olm.Outcome) bool { return o.Subscription == s.Name && o.Blocked != nil })
	})
	want, err := r.Resolve(t.Context(), &some)
	if err != nil {
		t.Fatal(err)
	}
	name := func(c olm.Choice) string { return c.String() }
	if a, b := names(got.Chosen, name), names(want.Chosen, name); !slices.Equal(a, b) {
		t.Fatalf("in part %v, by themselves %v", a, b)
	}
}

func names[T any](all []T, name func(T) string) []string {
	var out []string
	for _, x := range all {
		out = append(out, name(x))
	}
	return out
}
