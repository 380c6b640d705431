package explain_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm/explain"
)

// oddInBook are the fields of the documents' example objects that have another shape
// than in the API: they are named, and all else of the object is read.
var oddInBook = []string{
	"OperatorGroup local/olm-operators: spec.serviceAccountName is an object, which the API does not have there",
}

// brokenInBook counts the example objects that are no YAML even without their
// callouts, because a page of the document ends within them or their indentation is
// lost. A reader of a dump names them, and goes on.
const brokenInBook = 2

// TestBook feeds the example objects of OLM's documents to the views, without their
// callouts: each is read, or it is named what of it is not, and explaining it ends.
func TestBook(t *testing.T) {
	read, broken := 0, 0
	var odd []string
	for _, example := range samples.Book(t) {
		if !ours.MatchString(example) {
			continue
		}
		kind, object, err := parsed(example)
		if err != nil {
			broken++
			t.Logf("no YAML: %v\n%s", err, example)
			continue
		}
		var c explain.Cluster
		more, err := c.Add(kind, object)
		if err != nil {
			t.Errorf("%v\n%s", err, example)
		}
		odd = append(odd, more...)
		read++
		for _, v := range append(c.Operators(), all(&c)...) {
			if v.String() == "" {
				t.Errorf("a view without a text\n%s", example)
			}
		}
	}
	if read < 30 {
		t.Errorf("%d objects were read", read)
	}
	if !slices.Equal(odd, oddInBook) || broken != brokenInBook {
		t.Errorf("%d objects are no YAML, want %d; odd are\n%s\nwant\n%s", broken, brokenInBook, strings.Join(odd, "\n"), strings.Join(oddInBook, "\n"))
	}
}

// all are the views of single objects.
func all(c *explain.Cluster) []*explain.View {
	var views []*explain.View
	for i := range c.Plans {
		views = append(views, c.InstallPlan(c.Plans[i].Namespace, c.Plans[i].Name))
	}
	for i := range c.Catalogs {
		views = append(views, c.CatalogSource(c.Catalogs[i].Namespace, c.Catalogs[i].Name))
	}
	for i := range c.CSVs {
		views = append(views, c.CSV(c.CSVs[i].Namespace, c.CSVs[i].Name))
	}
	return views
}

var ours = regexp.MustCompile(`(?m)^"?kind"?: "?(Subscription|OperatorGroup|CatalogSource|InstallPlan|ClusterServiceVersion|OperatorCondition|OperatorHub|OLMConfig|ClusterExtension|ClusterCatalog)"?`)

// parsed reads an example as YAML.
func parsed(example string) (kind string, object []byte, err error) {
	r := doc.NewReader(strings.NewReader(example), "example", doc.Limits{})
	r.YAML11()
	d, err := r.Next()
	if err != nil {
		return "", nil, err
	}
	var head struct {
		Kind string `json:"kind"`
	}
	err = json.Unmarshal(d.JSON, &head)
	return head.Kind, d.JSON, err
}
