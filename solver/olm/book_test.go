package olm_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/rule"
)

// refusedInBook are the constraints of the documents that are refused, with what the
// message names: docs/compatibility/solver.md has a row for them ("the examples of the book").
var refusedInBook = []string{
	"all.constraints[0].package: packageName",
	"any.constraints[0]: group",
	"all.constraints[0].package: packageName",
	"any.constraints[0].all.constraints[0].package: packageName",
}

// TestBookConstraints feeds the constraints of the documents to solver/rule: what they
// print as a rule is accepted; what the reference refuses too is refused, and the message
// says what to write instead.
func TestBookConstraints(t *testing.T) {
	accepted, broken := 0, 0
	var refused []string
	for _, example := range samples.Book(t) {
		if !strings.Contains(example, "type: olm.constraint") {
			continue
		}
		text, ok := asJSON(example)
		if !ok {
			broken++
			continue
		}
		for _, value := range constraintsOf(t, text) {
			_, err := rule.ParseConstraint(value, nil)
			var odd *rule.ConstraintError
			switch {
			case err == nil:
				accepted++
			case errors.As(err, &odd):
				hint := regexp.MustCompile(`packageName|group`).FindString(odd.Hint + " " + odd.Reason)
				refused = append(refused, odd.Path+": "+hint)
			default:
				t.Errorf("%v\n%s", err, value)
			}
		}
	}
	if accepted != 2 || broken != 0 || !slices.Equal(refused, refusedInBook) {
		t.Errorf("%d accepted, %d are no YAML, refused:\n%s", accepted, broken, strings.Join(refused, "\n"))
	}
}

// constraintsOf are the values of the constraints of an example: a property, or a bundle.
func constraintsOf(t *testing.T, text []byte) (values []json.RawMessage) {
	t.Helper()
	type property struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	var o struct {
		property
		Properties []property `json:"properties"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	for _, p := range append(o.Properties, o.property) {
		if p.Type == "olm.constraint" {
			values = append(values, p.Value)
		}
	}
	return values
}

func asJSON(example string) ([]byte, bool) {
	d, err := doc.NewReader(strings.NewReader(example), "example", doc.Limits{}).Next()
	if err != nil {
		return nil, false
	}
	return d.JSON, true
}

// faultsInBook are the findings about the documents' examples of catalogs: one has a
// placeholder where data belongs.
var faultsInBook = []string{`package "example-operator": icon.base64data is not base64`}

// booked counts the examples of catalogs.
const booked = 8

// TestBookCatalogs opens the documents' examples of catalogs: each can be read, or it is
// named what of it cannot.
func TestBookCatalogs(t *testing.T) {
	read := 0
	var faults []string
	for _, example := range samples.Book(t) {
		if !regexp.MustCompile(`(?m)^schema: olm\.`).MatchString(example) {
			continue
		}
		c, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(example)}}, nil)
		var list catalog.Diagnostics
		if err != nil && !errors.As(err, &list) {
			t.Fatal(err)
		}
		if c != nil {
			list = c.Faults()
		}
		read++
		for _, f := range list {
			faults = append(faults, f.Subject+": "+f.Message)
		}
	}
	if read != booked || !slices.Equal(faults, faultsInBook) {
		t.Errorf("%d were read, with the faults\n%q", read, faults)
	}
}
