package olm_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestAdvice carries out every piece of advice given in random worlds and
// resolves again: it must help. If there is no advice, the explanation must say
// so.
func TestAdvice(t *testing.T) {
	unsat, advised, carried := 0, 0, 0
	for b := range batches(t, long.N(200, 60_000)) {
		r, err := olm.NewResolver(b.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range b.worlds {
			_, err := r.Resolve(t.Context(), w.request())
			var conflict *olm.UnsatError
			if !errors.As(err, &conflict) {
				continue
			}
			unsat++
			x, err := conflict.Explain(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if (len(x.Advice) == 0) != strings.HasPrefix(x.None, "no fix was found") {
				t.Fatalf("advice %q and %q", x.Advice, x.None)
			}
			if len(x.Advice) > 0 {
				advised++
			}
			checkAdvice(t, x)
			for _, text := range x.Advice {
				req := w.request()
				done, err := carryOut(req, text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if !done {
					continue // a catalog that does not exist
				}
				carried++
				if _, err := r.Resolve(t.Context(), req); err != nil {
					t.Fatalf("%q does not help: %v", text, err)
				}
			}
		}
	}
	t.Logf("%d of %d worlds that cannot be satisfied have advice; %d pieces were carried out", advised, unsat, carried)
	if unsat < 50 || advised < unsat/2 || carried < unsat/2 {
		t.Errorf("%d of %d worlds have advice, %d pieces were carried out", advised, unsat, carried)
	}
}

var (
	adviceRemove  = regexp.MustCompile(`^remove subscription (\S+)$`)
	adviceDelete  = regexp.MustCompile(`^delete csv (\S+)$`)
	adviceChannel = regexp.MustCompile(`^change subscription (\S+) to channel (\S+)$`)
	adviceName    = regexp.MustCompile(`^change subscription (\S+) to package (\S+)$`)
	adviceCatalog = regexp.MustCompile(`^change subscription (\S+) to catalog (\S+)$`)
	advicePin     = regexp.MustCompile(`^remove startingCSV \S+ from subscription (\S+)$`)
	adviceTake    = regexp.MustCompile(`^set startingCSV (\S+) on subscription (\S+), so that it takes over what is installed$`)
	adviceNew     = regexp.MustCompile(`^subscribe to package (\S+) with startingCSV (\S+), so that \S+ is updated$`)
	adviceAdd     = regexp.MustCompile(`^add a catalog that offers .*$`)
)

// carryOut changes a request as advice says. It reports false if that needs a
// catalog that does not exist.
func carryOut(req *olm.Request, text string) (bool, error) {
	text, _, _ = strings.Cut(text, "; then ")
	subscription := func(name string) *olm.Subscription {
		at := slices.IndexFunc(req.Subscriptions, func(s olm.Subscription) bool { return s.Name == name })
		return &req.Subscriptions[at]
	}
	for _, part := range strings.Split(text, ", and ") {
		words := func(re *regexp.Regexp) []string { return re.FindStringSubmatch(part) }
		switch {
		case words(adviceRemove) != nil:
			req.Subscriptions = slices.DeleteFunc(req.Subscriptions, func(s olm.Subscription) bool { return s.Name == words(adviceRemove)[1] })
		case words(adviceDelete) != nil:
			req.Installed = slices.DeleteFunc(req.Installed, func(c olm.ClusterServiceVersion) bool { return c.Name == words(adviceDelete)[1] })
		case words(adviceChannel) != nil:
			subscription(words(adviceChannel)[1]).Spec.Channel = words(adviceChannel)[2]
		case words(adviceName) != nil:
			subscription(words(adviceName)[1]).Spec.Package = words(adviceName)[2]
		case words(adviceCatalog) != nil:
			s := subscription(words(adviceCatalog)[1])
			s.Spec.SourceNamespace, s.Spec.Source = "", words(adviceCatalog)[2]
			if namespace, name, ok := strings.Cut(s.Spec.Source, "/"); ok {
				s.Spec.SourceNamespace, s.Spec.Source = namespace, name
			}
		case words(advicePin) != nil:
			subscription(words(advicePin)[1]).Spec.StartingCSV = ""
		case words(adviceTake) != nil:
			s := subscription(words(adviceTake)[2])
			s.Spec.StartingCSV, s.Status.InstalledCSV = words(adviceTake)[1], words(adviceTake)[1]
		case words(adviceNew) != nil:
			var s olm.Subscription
			s.Name, s.Namespace, s.Spec.Package = "zz-"+words(adviceNew)[2], req.Namespace, words(adviceNew)[1]
			s.Spec.StartingCSV, s.Status.InstalledCSV = words(adviceNew)[2], words(adviceNew)[2]
			req.Subscriptions = append(req.Subscriptions, s)
		case words(adviceAdd) != nil:
			return false, nil
		default:
			return false, fmt.Errorf("%q is not known", part)
		}
	}
	return true, nil
}

// checkAdvice checks that all pieces of advice have the same number of changes,
// at most three unless it is the only piece and only removes, and that the DOT
// drawing of an explanation contains all advice.
func checkAdvice(t *testing.T, x *olm.Explanation) {
	t.Helper()
	for _, text := range x.Advice {
		changes, _, _ := strings.Cut(text, "; then ")
		first, _, _ := strings.Cut(x.Advice[0], "; then ")
		n := strings.Count(changes, ", and ")
		removes := strings.Count(changes, "remove subscription ") + strings.Count(changes, "delete csv ")
		if n != strings.Count(first, ", and ") || n > 2 && (len(x.Advice) > 1 || removes != n+1) {
			t.Fatalf("%q: advice of more changes than others, or than are tried: %q", text, x.Advice)
		}
	}
	var dot, mermaid strings.Builder
	if err := errors.Join(x.WriteDOT(&dot), x.WriteMermaid(&mermaid)); err != nil {
		t.Fatal(err)
	}
	if boxes := strings.Count(dot.String(), "To do: "); boxes != len(x.Advice) {
		t.Fatalf("%d pieces of advice are drawn of %d", boxes, len(x.Advice))
	}
}
