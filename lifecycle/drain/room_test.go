package drain_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// crowd makes nodes of a size, and pods on them, each with what it asks for.
func crowd(size int, asks map[string][]int) *drain.PlanRequest {
	req := &drain.PlanRequest{}
	var names []string
	for name := range asks {
		names = append(names, name)
	}
	slices.Sort(names)
	yes := true
	for _, name := range names {
		n := drain.Node{ObjectMeta: drain.ObjectMeta{Name: name, UID: name}}
		n.Status.Allocatable = map[string]string{"cpu": fmt.Sprint(size), "pods": "110"}
		req.Nodes = append(req.Nodes, n)
		for i, ask := range asks[name] {
			p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: fmt.Sprint(name, "-", i), UID: fmt.Sprint(name, "-", i)}}
			p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &yes}}
			p.Spec.NodeName = name
			p.Spec.Containers = []fairlead.Container{{Name: "c"}}
			p.Spec.Containers[0].Resources.Requests = map[string]string{"cpu": fmt.Sprint(ask)}
			p.Status.Phase = "Running"
			req.Pods = append(req.Pods, p)
		}
	}
	return req
}

// Two of four half empty nodes can go; a pod that fits nowhere hinders its node,
// and is named with why; pods of DaemonSets and of nobody need no room.
func TestFindRoom(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	req := crowd(4, map[string][]int{"a": {2}, "b": {2}, "c": {2}, "d": {2}})
	room, err := drain.FindRoom(req, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(room.Together, room.Moved); got != "[a b] 2" && got != "[a b] 3" {
		t.Errorf("together %v, moved %d", room.Together, room.Moved)
	}
	if len(room.Kept) != 2 || room.Kept[0].Node != "c" || room.Kept[0].Pod == "" {
		t.Errorf("kept %+v", room.Kept)
	}
	blocks := room.Blocks()
	if len(blocks) != 2 || !strings.Contains(blocks[0].Message, "NodeResourcesFit: 1 node") || !strings.Contains(blocks[0].Message, "NodeUnschedulable: 2 nodes") {
		t.Errorf("%v", blocks)
	}
	req = crowd(4, map[string][]int{"a": {4}, "b": {4}})
	req.Pods[0].OwnerReferences[0].Kind = "DaemonSet"
	req.Pods[1].OwnerReferences = nil
	if room, err = drain.FindRoom(req, now, nil); err != nil || len(room.Together) != 2 || room.AtMost != 2 {
		t.Errorf("%v: %+v", err, room)
	}
	req.Drain = []string{"nobody"}
	if _, err = drain.FindRoom(req, now, nil); err == nil {
		t.Error("a node that is not there is drained")
	}
}

// The answer holds: whatever is told to go together has room, checked by summing up
// what pods ask for on nodes of one kind; nothing that is kept would have fitted;
// the order of nodes and pods does not matter.
func TestFindRoomHolds(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(5, 6))
	kept, together := 0, 0
	for range 500 {
		const size = 8
		asks := map[string][]int{}
		for i := range 2 + r.IntN(5) {
			var list []int
			free := size
			for free > 0 && r.IntN(4) > 0 {
				ask := 1 + r.IntN(free)
				list = append(list, ask)
				free -= ask
			}
			asks[fmt.Sprint("n", i)] = list
		}
		req := crowd(size, asks)
		room, err := drain.FindRoom(req, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		total, most := 0, 0
		for _, list := range asks {
			for _, ask := range list {
				total += ask
				most = max(most, ask)
			}
		}
		left := len(asks) - len(room.Together)
		if total > left*size {
			t.Fatalf("%v: %v go, and %d cpus are asked of %d", asks, room.Together, total, left*size)
		}
		if left == 0 && total > 0 {
			t.Fatalf("%v: all nodes go", asks)
		}
		for _, k := range room.Kept {
			if k.Pod == "" || len(k.Why) == 0 {
				t.Fatalf("%v: %s is kept for nothing", asks, k.Node)
			}
		}
		for name, list := range asks { // an empty node always goes
			if len(list) == 0 && !slices.Contains(room.Together, name) && !hosts(room, name) {
				t.Fatalf("%v: empty node %s is kept: %+v", asks, name, room)
			}
		}
		kept, together = kept+len(room.Kept), together+len(room.Together)
		r.Shuffle(len(req.Pods), func(i, j int) { req.Pods[i], req.Pods[j] = req.Pods[j], req.Pods[i] })
		again, err := drain.FindRoom(req, now, nil)
		if err != nil || !reflect.DeepEqual(room, again) {
			t.Fatalf("the order of pods matters: %+v, %+v, %v", room, again, err)
		}
	}
	if kept == 0 || together == 0 {
		t.Errorf("%d nodes go, %d are kept", together, kept)
	}
}

// hosts reports whether pods were moved to a node before it was tried, so that it
// is not empty any more.
func hosts(room *drain.Room, name string) bool {
	return slices.ContainsFunc(room.Kept, func(k drain.KeptNode) bool { return k.Node == name && k.Pod != "" })
}

// On small worlds the set is the largest, beside all sets and all ways to place
// their pods; and no set is ever larger than AtMost.
func TestFindRoomLargest(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(7, 8))
	for range long.N(300, 5_000) {
		asks, names := randomCrowd(r)
		want := 0
		for set := range 1 << len(names) {
			if n := bits.OnesCount(uint(set)); n > want && canGo(asks, names, set) {
				want = n
			}
		}
		req := crowd(crowdSize, asks)
		room, err := drain.FindRoom(req, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(room.Together) != want || !room.Largest || room.AtMost < want || len(room.Kept)+want != len(names) {
			t.Fatalf("%v: %d can go together; %+v", asks, want, room)
		}
		req.Drain = slices.Clone(names) // tried in this order, which is worse at times
		if room, err = drain.FindRoom(req, now, nil); err != nil || len(room.Together) != want {
			t.Fatalf("%v: %d can go together; %+v, %v", asks, want, room, err)
		}
	}
}

// crowdSize is how much each node of a random crowd can hold.
const crowdSize = 10

// randomCrowd returns what the pods of some nodes ask for, and the nodes' names.
func randomCrowd(r *rand.Rand) (asks map[string][]int, names []string) {
	asks = map[string][]int{}
	for i := range 3 + r.IntN(3) {
		var list []int
		for free := crowdSize; len(list) < 4 && free > 0 && r.IntN(5) > 0; {
			ask := 1 + r.IntN(min(free, 6))
			list = append(list, ask)
			free -= ask
		}
		names = append(names, fmt.Sprint("n", i))
		asks[names[i]] = list
	}
	return asks, names
}

// canGo reports whether a set of nodes can go together, by trying all ways to
// place their pods.
func canGo(asks map[string][]int, names []string, set int) bool {
	var move, free []int
	for i, name := range names {
		if set&(1<<i) != 0 {
			move = append(move, asks[name]...)
			continue
		}
		left := crowdSize
		for _, a := range asks[name] {
			left -= a
		}
		free = append(free, left)
	}
	return packs(move, free)
}

// Nodes go in turn exactly if each batch of them can go, whatever went before.
func TestFindRoomInTurn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(9, 10))
	fits, short := 0, 0
	for range long.N(300, 5_000) {
		asks, names := randomCrowd(r)
		req := crowd(crowdSize, asks)
		req.Drain = slices.Clone(names)
		r.Shuffle(len(names), func(i, j int) { req.Drain[i], req.Drain[j] = req.Drain[j], req.Drain[i] })
		req.AtOnce = r.IntN(3)
		var want []string // the first batch that cannot go
		for batch := range slices.Chunk(req.Drain, max(req.AtOnce, 1)) {
			set := 0
			for _, name := range batch {
				set |= 1 << slices.Index(names, name)
			}
			if !canGo(asks, names, set) {
				want = batch
				break
			}
		}
		room, err := drain.FindRoomInTurn(req, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			fits++
			if room != nil {
				t.Fatalf("%v, %d at once: all can go in turn; %+v", asks, req.AtOnce, room)
			}
			continue
		}
		short++
		if room == nil {
			t.Fatalf("%v, %d at once: %v cannot go", asks, req.AtOnce, want)
		}
		got := slices.Clone(room.Together)
		for _, k := range room.Kept {
			got = append(got, k.Node)
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("%v, %d at once: %v cannot go, not %v", asks, req.AtOnce, want, got)
		}
	}
	if fits < 50 || short < 50 {
		t.Errorf("%d fit and %d do not: the test shows little", fits, short)
	}
}

// A node that goes takes no pod, not even one that tolerates that it is cordoned.
func TestFindRoomTolerates(t *testing.T) {
	req := crowd(4, map[string][]int{"a": {2}, "b": {2}, "c": {4}})
	for i := range req.Pods {
		req.Pods[i].Spec.Tolerations = []fairlead.Toleration{{Key: "node.kubernetes.io/unschedulable", Operator: "Exists"}}
	}
	req.Drain = []string{"a", "b"}
	room, err := drain.FindRoom(req, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), nil)
	if err != nil || len(room.Together) != 1 {
		t.Errorf("a pod has no place but on a node that goes: %+v, %v", room, err)
	}
}

// packs reports whether items fit into what is free, by trying all ways.
func packs(items, free []int) bool {
	if len(items) == 0 {
		return true
	}
	for i := range free {
		if free[i] < items[0] {
			continue
		}
		free[i] -= items[0]
		ok := packs(items[1:], free)
		free[i] += items[0]
		if ok {
			return true
		}
	}
	return false
}
