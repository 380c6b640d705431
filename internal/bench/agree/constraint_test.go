package agree_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/constraints"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/rule"
)

// randomConstraint returns an olm.constraint, mostly a valid one.
func randomConstraint(r *rand.Rand, depth int) string {
	members := []string{}
	if r.IntN(4) == 0 {
		members = append(members, pick(r, []string{`"failureMessage":"no"`, `"failureMessage":null`, `"FAILUREMESSAGE":"x"`, `"message":"x"`, `"failureMessage":1`}))
	}
	for n := pick(r, []string{"1", "1", "1", "1", "1", "1", "1", "0", "2"}); n > "0"; n = string(n[0] - 1) {
		members = append(members, randomKind(r, depth))
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}"
}

func randomKind(r *rand.Rand, depth int) string {
	kinds := 6
	if depth == 0 {
		kinds = 3
	}
	switch r.IntN(kinds) {
	case 0:
		return pick(r, []string{
			`"gvk":{"group":"g","version":"v1","kind":"K"}`, `"GVK":{"Kind":"K","version":"v1"}`, `"gvk":{}`, `"gvk":null`, `"gvk":[]`,
			`"gvk":{"group":"g","version":"v1","kind":"K","kind":"L"}`,
		})
	case 1:
		return pick(r, []string{
			`"package":{"packageName":"p","versionRange":">=1.0.0"}`, `"package":{"packageName":"q","versionRange":"<2.0.0 || 3.x"}`,
			`"package":{"name":"p","versionRange":">=1.0.0"}`, `"package":{"packageName":"p"}`, `"package":{"packageName":"p","versionRange":"^1"}`, `"package":null`,
		})
	case 2:
		return pick(r, []string{
			`"cel":{"rule":"true"}`, `"cel":{"rule":"properties.exists(p, p.type == 'a')"}`, `"cel":{}`, `"cel":{"rule":"nope"}`, `"cel":"x"`, `"cel":{"rule":1}`,
		})
	}
	key := pick(r, []string{"all", "any", "not", "ANY", "none"})
	var members []string
	for range r.IntN(4) {
		members = append(members, randomConstraint(r, depth-1))
	}
	list := pick(r, []string{"constraints", "constraints", "constraints", "constraints", "Constraints", "constraint"})
	return fmt.Sprintf(`"%s":{"%s":[%s]}`, key, list, strings.Join(members, ","))
}

// damage changes a byte or two.
func damage(r *rand.Rand, s string) string {
	switch r.IntN(4) {
	case 0:
		i := r.IntN(len(s))
		return s[:i] + pick(r, []string{"", " ", "{", "}", "\"", ",", "x", "null"}) + s[min(len(s), i+r.IntN(2)):]
	case 1:
		return s + pick(r, []string{" ", "x", "{}", ",", "\n"})
	}
	return s
}

// stricter matches the reasons for which ours may refuse what theirs accepts.
var stricter = regexp.MustCompile(`constraint is empty|at once|is given twice|something follows|no kind|no version|no package name|no rule|` +
	`version range "|rule at \d+:\d+: `)

// TestConstraints compares our reading of olm.constraint with that of a cluster:
// what ours accepts theirs accepts with the same meaning, and what theirs refuses
// ours refuses.
func TestConstraints(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	compiler, err := rule.NewCompiler(nil)
	if err != nil {
		t.Fatal(err)
	}
	taken, refused := 0, 0
	for range long.N(30_000, 3_000_000) {
		text := damage(r, randomConstraint(r, 3))
		theirs, theirErr := constraints.Parse(json.RawMessage(text))
		ours, ourErr := compiler.ParseConstraint([]byte(text))
		switch {
		case ourErr == nil && theirErr != nil:
			t.Fatalf("%s: theirs %v, ours takes it", text, theirErr)
		case ourErr == nil:
			taken++
			if got, want := written(ours), theirsWritten(&theirs); got != want {
				t.Fatalf("%s:\n  ours %s\ntheirs %s", text, got, want)
			}
		case theirErr == nil && !stricter.MatchString(ourErr.Error()):
			t.Fatalf("%s: theirs takes it, ours %v", text, ourErr)
		case theirErr == nil:
			refused++
		}
	}
	t.Logf("%d taken by both, %d refused by ours alone", taken, refused)
	if taken == 0 || refused == 0 {
		t.Error("the texts are too much alike")
	}
}

// written and theirsWritten write a constraint in one notation for both.
func written(c *rule.Constraint) string {
	s := fmt.Sprintf("%q ", c.FailureMessage)
	switch {
	case c.GVK != nil:
		return s + fmt.Sprint(*c.GVK)
	case c.Package != nil:
		return s + c.Package.PackageName + " " + c.Package.VersionRange
	case c.CEL != nil:
		return s + "cel " + c.CEL.String()
	case c.All != nil:
		return s + writtenAll("all", c.All)
	case c.Any != nil:
		return s + writtenAll("any", c.Any)
	}
	return s + writtenAll("not", c.Not)
}

func writtenAll(kind string, cs []rule.Constraint) string {
	for i := range cs {
		kind += " (" + written(&cs[i]) + ")"
	}
	return kind
}

func theirsWritten(c *constraints.Constraint) string {
	s := fmt.Sprintf("%q ", c.FailureMessage)
	switch {
	case c.GVK != nil:
		return s + fmt.Sprint(rule.GVK{Group: c.GVK.Group, Version: c.GVK.Version, Kind: c.GVK.Kind})
	case c.Package != nil:
		return s + c.Package.PackageName + " " + c.Package.VersionRange
	case c.All != nil:
		return s + theirsWrittenAll("all", c.All.Constraints)
	case c.Any != nil:
		return s + theirsWrittenAll("any", c.Any.Constraints)
	case c.Not != nil:
		return s + theirsWrittenAll("not", c.Not.Constraints)
	}
	return s + "cel " + c.Cel.Rule
}

func theirsWrittenAll(kind string, cs []constraints.Constraint) string {
	for i := range cs {
		kind += " (" + theirsWritten(&cs[i]) + ")"
	}
	return kind
}
