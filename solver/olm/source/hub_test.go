package source_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/solver/olm/source"
)

// The example of the documentation: all default catalogs but one are disabled.
func ExampleHub_Plan() {
	var hub source.Hub
	err := json.Unmarshal([]byte(`{"apiVersion": "config.openshift.io/v1", "kind": "OperatorHub", "metadata": {"name": "cluster"},
		"spec": {"disableAllDefaultSources": true, "sources": [{"name": "community-operators", "disabled": false}]}}`), &hub)
	if err != nil {
		fmt.Println(err)
		return
	}
	defaults := source.DefaultSources("v4.19")
	plan := hub.Plan(defaults, defaults[:1]) // the cluster has only certified-operators
	for _, c := range plan.Create {
		fmt.Println("create", c.Key(), c.Spec.Image)
	}
	for _, c := range plan.Delete {
		fmt.Println("delete", c.Key())
	}
	for _, s := range plan.Status.Sources {
		fmt.Println(s.Name, s.Disabled, s.Status)
	}
	// Output:
	// create openshift-marketplace/community-operators registry.redhat.io/redhat/community-operator-index:v4.19
	// delete openshift-marketplace/certified-operators
	// certified-operators true Success
	// community-operators false Success
	// redhat-operators true Success
}

// TestHub tests each rule of the marketplace operator. A word of have is a catalog
// of the cluster, with how it differs from the default.
func TestHub(t *testing.T) {
	const all = "certified-operators community-operators redhat-operators"
	for _, c := range []struct {
		spec, have             string
		create, update, delete string
		status                 string // names, with D before disabled ones and ! before errors
	}{
		{`{}`, "", all, "", "", all},
		{`{}`, all, "", "", "", all},
		{`{}`, "certified-operators=gone redhat-operators", "community-operators", "", "", all},
		{`{}`, "certified-operators=case community-operators=image redhat-operators=unmanaged own", "", "community-operators redhat-operators", "", all},
		{`{"disableAllDefaultSources": true}`, all + " own", "", "", all, "Dcertified-operators Dcommunity-operators Dredhat-operators"},
		{`{"disableAllDefaultSources": true}`, "certified-operators=unmanaged community-operators=gone redhat-operators=image", "", "", "redhat-operators", "Dcertified-operators Dcommunity-operators Dredhat-operators"},
		{`{"disableAllDefaultSources": true, "sources": [{"name": "redhat-operators", "disabled": false}]}`, "", "redhat-operators", "", "", "Dcertified-operators Dcommunity-operators redhat-operators"},
		{`{"sources": [{"name": "redhat-operators", "disabled": true}]}`, all, "", "", "redhat-operators", "certified-operators community-operators Dredhat-operators"},
		{`{"sources": [{"name": "redhat-operators", "disabled": true}, {"name": "redhat-operators", "disabled": false}]}`, all, "", "", "", all},
		{`{"sources": [{"name": "own", "disabled": true}, {"name": "own", "disabled": false}]}`, all + " own", "", "", "", "certified-operators community-operators !own redhat-operators"},
		{`{"sources": [{"name": "own", "disabled": true}]}`, all + " own", "", "", "", "certified-operators community-operators !Down redhat-operators"},
	} {
		var hub source.Hub
		if err := json.Unmarshal([]byte(`{"spec": `+c.spec+`}`), &hub); err != nil {
			t.Fatal(err)
		}
		defaults := source.DefaultSources("v4.19")
		var have []source.CatalogSource
		for word := range strings.FieldsSeq(c.have) {
			name, what, _ := strings.Cut(word, "=")
			x := source.CatalogSource{}
			x.Name, x.Namespace = name, "openshift-marketplace"
			for _, d := range source.DefaultSources("v4.19") {
				if d.Name == name {
					x = d
				}
			}
			switch what {
			case "gone":
				x.DeletionTimestamp = &time.Time{}
			case "unmanaged":
				x.Annotations = nil
			case "image":
				x.Spec.Image += "-mine"
			case "case":
				x.Spec.DisplayName = strings.ToUpper(x.Spec.DisplayName)
			}
			have = append(have, x)
		}
		before := fmt.Sprint(have, defaults)
		p := hub.Plan(defaults, have)
		names := func(list []source.CatalogSource) string {
			var words []string
			for _, x := range list {
				words = append(words, x.Name)
			}
			return strings.Join(words, " ")
		}
		var status []string
		for _, s := range p.Status.Sources {
			word := s.Name
			if s.Disabled {
				word = "D" + word
			}
			if s.Status == "Error" && s.Message == "Not present in the default definitions" {
				word = "!" + word
			}
			status = append(status, word)
		}
		if names(p.Create) != c.create || names(p.Update) != c.update || names(p.Delete) != c.delete || strings.Join(status, " ") != c.status {
			t.Errorf("%s, cluster has %q: create %q, update %q, delete %q, status %q", c.spec, c.have, names(p.Create), names(p.Update), names(p.Delete), status)
		}
		for _, x := range p.Update {
			if x.Annotations[source.ManagedByAnnotation] != "marketplace-operator" || strings.HasSuffix(x.Spec.Image, "-mine") {
				t.Errorf("%s is not put back: %v", x.Name, x)
			}
		}
		if fmt.Sprint(have, defaults) != before {
			t.Errorf("%s: the arguments are changed", c.spec)
		}
		if p := (*source.Hub)(nil).Plan(defaults, nil); names(p.Create) != all {
			t.Errorf("without a hub: %q", names(p.Create))
		}
	}
}
