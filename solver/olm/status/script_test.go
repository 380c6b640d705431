package status_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/status"
)

const world = `
{"schema":"olm.package","name":"eagle","defaultChannel":"alpha"}
{"schema":"olm.channel","package":"eagle","name":"alpha","entries":[{"name":"eagle.v1"}]}
{"schema":"olm.channel","package":"eagle","name":"stable","entries":[{"name":"eagle.v1"}]}
{"schema":"olm.bundle","package":"eagle","name":"eagle.v1","image":"example.com/eagle:1","properties":[
  {"type":"olm.package","value":{"packageName":"eagle","version":"1.0.0"}},
  {"type":"olm.package.required","value":{"packageName":"nest","versionRange":">=1.0.0"}}]}
{"schema":"olm.deprecations","package":"eagle","entries":[
  {"reference":{"schema":"olm.package"},"message":"use owl"},
  {"reference":{"schema":"olm.channel","name":"alpha"},"message":"use stable"},
  {"reference":{"schema":"olm.bundle","name":"eagle.v1"},"message":"use eagle.v2"}]}
`

// TestScripts runs the scenarios of testdata: each command is one Update at
// second 200, of a status whose conditions began at second 100. Its input
// describes the subscription and the facts, one per line:
//
//	sub KEY=VALUE...       source, channel, current, installed, state, plan
//	has TYPE STATUS        a condition that it has
//	knew NS/NAME           a catalog whose health it has
//	catalog NS/NAME [ill]  a catalog that is visible in the namespace
//	plan PHASE [REASON MESSAGE]
//	bundle NAME [REASON MESSAGE]
//	csv NAME               a CSV that exists
//	next NAME
//	deprecations           those of package eagle
//	unsat, error TEXT      what resolution said
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			sub, facts := parse(t, c)
			before := fmt.Sprint(*sub, sub.Status.Conditions)
			got := status.Update(sub, facts, time.Unix(200, 0).UTC())
			if after := fmt.Sprint(*sub, sub.Status.Conditions); after != before {
				t.Errorf("%s: the subscription was changed", c.Pos)
			}
			again := *sub
			again.Status = got
			if facts.Plan != nil || got.InstallPlanRef == nil {
				if third := status.Update(&again, facts, time.Unix(300, 0).UTC()); third.LastUpdated.Unix() == 300 && !steady(&got, &third) {
					t.Errorf("%s: a second update changes more", c.Pos)
				}
			}
			return printStatus(&got, words)
		}
	})
}

// steady reports whether the second update changed nothing except the reason of
// healthy catalogs, which reports a change only once.
func steady(a, b *olm.SubscriptionStatus) bool {
	if len(a.Conditions) != len(b.Conditions) || a.State != b.State {
		return false
	}
	for i := range a.Conditions {
		x, y := a.Conditions[i], b.Conditions[i]
		if x != y && (x.Type != status.CatalogSourcesUnhealthy || x.LastTransitionTime != y.LastTransitionTime) {
			return false
		}
	}
	return true
}

func parse(t *testing.T, c *golden.Command) (*olm.Subscription, *status.Facts) {
	sub := &olm.Subscription{ObjectMeta: olm.ObjectMeta{Name: "eagle", Namespace: "ops"}, Spec: olm.SubscriptionSpec{Package: "eagle"}}
	facts := &status.Facts{}
	for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
		words := strings.Fields(line)
		rest := func(n int) string { return strings.Join(words[min(n, len(words)):], " ") }
		switch words[0] {
		case "sub":
			parseSub(sub, words[1:])
		case "has":
			sub.Status.Conditions = append(sub.Status.Conditions, olm.Condition{
				Type: words[1], Status: fairlead.ConditionStatus(words[2]), LastTransitionTime: time.Unix(100, 0).UTC()})
		case "knew":
			sub.Status.CatalogHealth = append(sub.Status.CatalogHealth, health(words[1:]))
		case "catalog":
			facts.Catalogs = append(facts.Catalogs, health(words[1:]))
		case "plan":
			facts.Plan = &status.Plan{Phase: strings.Trim(words[1], `"`), Message: rest(3)}
			if len(words) > 2 {
				facts.Plan.Reason = words[2]
			}
		case "bundle":
			b := status.Unpack{Bundle: words[1], Message: rest(3)}
			if len(words) > 2 {
				b.Reason = words[2]
			}
			facts.Bundles = append(facts.Bundles, b)
		case "csv":
			facts.CSVs = append(facts.CSVs, words[1])
		case "next":
			facts.Next = words[1]
		case "deprecations":
			pkg, _ := samples.Text(t, world).Package("eagle")
			var err error
			if facts.Deprecations, err = status.Deprecations(sub, pkg); err != nil {
				t.Fatal(err)
			}
		case "error":
			facts.Resolution = &status.Refusal{Reason: status.ReasonErrorPrevented, Message: rest(1)}
		case "unsat":
			_, err := olm.Resolve(context.Background(),
				[]olm.Source{{SourceKey: olm.SourceKey{Name: "birds", Namespace: "ops"}, Catalog: samples.Text(t, world)}},
				&olm.Request{Namespace: "ops", Subscriptions: []olm.Subscription{*sub}}, nil)
			facts.Resolution = &status.Refusal{Reason: status.ReasonNotSatisfiable, Message: err.Error()}
		default:
			t.Fatalf("%s: no such line: %s", c.Pos, line)
		}
	}
	return sub, facts
}

func parseSub(sub *olm.Subscription, words []string) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "source":
			k := health([]string{value}).Source
			sub.Spec.Source, sub.Spec.SourceNamespace = k.Name, k.Namespace
		case "channel":
			sub.Spec.Channel = value
		case "current":
			sub.Status.CurrentCSV = value
		case "installed":
			sub.Status.InstalledCSV = value
		case "state":
			sub.Status.State = olm.State(value)
		case "plan":
			sub.Status.InstallPlanRef = &olm.PlanReference{Name: value, Namespace: "ops"}
		}
	}
}

func health(words []string) olm.CatalogHealth {
	ns, name, _ := strings.Cut(words[0], "/")
	return olm.CatalogHealth{Source: olm.SourceKey{Name: name, Namespace: ns}, Healthy: len(words) == 1}
}

func printStatus(s *olm.SubscriptionStatus, words *golden.Words) string {
	var b strings.Builder
	fmt.Fprintf(&b, "state %q current %q installed %q", s.State, s.CurrentCSV, s.InstalledCSV)
	if s.InstallPlanRef != nil {
		fmt.Fprintf(&b, " plan %s", s.InstallPlanRef.Name)
	}
	if !s.LastUpdated.IsZero() {
		fmt.Fprintf(&b, " at %d", s.LastUpdated.Unix())
	}
	b.WriteString("\n")
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "%s %s since %d, %s%s\n", c.Type, c.Status, c.LastTransitionTime.Unix(), c.Reason, words.Data(c.Type+" "+c.Reason, c.Message))
	}
	return b.String()
}
