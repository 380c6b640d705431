package crd_test

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead/solver/olm/crd"
)

// A new version of an operator drops a version of its API in which objects are
// still stored.
func ExampleReplace() {
	var old, new crd.Definition
	for text, into := range map[string]*crd.Definition{
		`{"metadata":{"name":"shops.example.com"},
		  "spec":{"versions":[{"name":"v1alpha1","served":true},{"name":"v1","served":true,"storage":true}]},
		  "status":{"storedVersions":["v1alpha1","v1"]}}`: &old,
		`{"metadata":{"name":"shops.example.com"},
		  "spec":{"versions":[{"name":"v1","served":true,"storage":true}]}}`: &new,
	} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			fmt.Println(err)
			return
		}
	}
	verdict := crd.Replace(&old, &new, 1, &nests{}, atMost{}, nil)
	fmt.Println(verdict.Allowed())
	fmt.Println(verdict)
	// Output:
	// false
	// CRD shops.example.com: the new one lacks version v1alpha1, in which objects may be stored; keep it, or store every object again in another version and remove v1alpha1 from status.storedVersions
}

// Unsafe changes can be found before anyone has objects.
func ExampleCompare() {
	changes, err := crd.Compare(
		definition("v1", `{"properties":{"spec":{"properties":{"replicas":{"type":"integer","maximum":9}}}}}`),
		definition("v1", `{"properties":{"spec":{"required":["size"],"properties":{"replicas":{"type":"integer","maximum":5},"size":{"type":"string"}}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range changes {
		fmt.Println(c)
	}
	// Output:
	// v1 spec.replicas: maximum is tighter: 5 instead of 9
	// v1 spec.size: is required now
}
