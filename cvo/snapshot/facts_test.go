package snapshot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// Changes are what both snapshots know, and what differs: an object is new or gone only if both looked
// for it.
func TestChanges(t *testing.T) {
	const before = `
{apiVersion: v1, kind: NodeList, items: [
 {metadata: {name: a}, status: {conditions: [{type: Ready, status: "True"}]}},
 {metadata: {name: b}, spec: {unschedulable: true}, status: {conditions: [{type: Ready, status: "True"}]}},
 {metadata: {name: c}, status: {conditions: [{type: Ready, status: "True"}]}}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {nodeName: a}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
`
	const after = `
{apiVersion: v1, kind: NodeList, items: [
 {metadata: {name: a}, status: {conditions: [{type: Ready, status: "Unknown", reason: NodeStatusUnknown}]}},
 {metadata: {name: b}, status: {conditions: [{type: Ready, status: "True"}]}},
 {metadata: {name: d}, status: {conditions: [{type: Ready, status: "True"}]}}]}
---
{apiVersion: v1, kind: PodList, items: [
 {metadata: {name: web, namespace: shop}, spec: {nodeName: b}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}},
 {metadata: {name: db, namespace: bank}, spec: {nodeName: b}, status: {phase: Pending}}]}
`
	read := func(text string) *snapshot.Snapshot {
		var r snapshot.Reader
		if err := r.Stream(strings.NewReader(text), "dump"); err != nil {
			t.Fatal(err)
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var got strings.Builder
	for _, c := range snapshot.Changes(read(before), read(after)) {
		fmt.Fprintf(&got, "%s|%s|%s|%s\n", c.Subject, c.What, c.Was, c.Is)
	}
	// That pod bank/db was not in the first dump, which has one pod, says nothing.
	const want = `node a||ready|not ready (NodeStatusUnknown)
node b||ready, cordoned|ready
node d|||ready
pod shop/web|node|a|b
node c||ready|
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if same := snapshot.Changes(read(after), read(after)); len(same) > 0 {
		t.Errorf("nothing changed, and %v", same)
	}
}

// A new object is one change, whatever is known of it; a budget that nobody has counted is not one of
// no pods.
func TestNewObject(t *testing.T) {
	of := func(text string) *snapshot.Snapshot {
		r := snapshot.Reader{Everywhere: true}
		if err := r.Stream(strings.NewReader(text), "-"); err != nil {
			t.Fatal(err)
		}
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const none = `{"kind":"PodList","apiVersion":"v1","items":[]}{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":[]}`
	got := snapshot.Changes(of(none), of(`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"x"},"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}]}
		{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":[{"metadata":{"name":"b","namespace":"x"},"spec":{"minAvailable":1}}]}`))
	want := []snapshot.Change{{Subject: "pod x/a", Is: "Running"}, {Subject: "budget x/b", Is: "not counted yet"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
