package placement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/placement"
)

// in returns an affinity to a value of a label.
func in(key string, values ...string) *fairlead.NodeSelector {
	return &fairlead.NodeSelector{Terms: []fairlead.NodeSelectorTerm{{MatchExpressions: []fairlead.NodeRequirement{{Key: key, Operator: "In", Values: values}}}}}
}

// claiming returns a pod that uses claims of namespace ns.
func claiming(name, node string, claims ...string) *fairlead.Pod {
	p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: name}}
	p.Spec.NodeName = node
	for _, c := range claims {
		p.Spec.Volumes = append(p.Spec.Volumes, fairlead.Volume{Name: c, PersistentVolumeClaim: &fairlead.ClaimSource{ClaimName: c}})
	}
	return p
}

// shelves is a cluster of two zones: a1 and a2 in a, b in b. Node a2 can have one volume.
func shelves(t *testing.T, all bool) *placement.Cluster {
	disk := func(handle string) *placement.Volume { return &placement.Volume{Driver: "disk", Handle: handle} }
	zoned, old := disk("zoned"), disk("old")
	zoned.Affinity = in("topology.kubernetes.io/zone", "a")
	old.Labels = map[string]string{"failure-domain.beta.kubernetes.io/zone": "b__c"}
	s := &placement.Storage{
		Volumes: map[string]*placement.Volume{"zoned": zoned, "old": old, "one": disk("one"), "two": disk("two"), "stray": disk("stray"), "local": {Affinity: in("kubernetes.io/hostname", "b")}},
		Claims: map[string]*placement.Claim{
			"ns/zoned": {Volume: "zoned"}, "ns/old": {Volume: "old"}, "ns/one": {Volume: "one"}, "ns/two": {Volume: "two"}, "ns/local": {Volume: "local"},
			"ns/gone": {Volume: "nothing"}, "ns/lost": {Lost: true}, "ns/ending": {Volume: "one", Ending: true}, "ns/single": {Volume: "two", Once: true},
			"ns/later": {Class: "later"}, "ns/now": {Class: "now"}, "ns/hand": {Class: "hand"}, "ns/odd": {Class: "odd"}, "ns/none": {},
		},
		Classes: map[string]*placement.Class{"later": {Waits: true, Driver: "disk"}, "now": {}, "hand": {Waits: true, Static: true}},
		Limits:  map[string]map[string]int{"a2": {"disk": 1}}, Attached: map[string][]string{},
		AllClaims: all, AllVolumes: all, AllClasses: all,
	}
	c := placement.New(&placement.Options{RoomUntold: true, Storage: s})
	for name, zone := range map[string]string{"a1": "a", "a2": "a", "b": "b"} {
		n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{"topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": name}}}
		if err := c.SetNode(n); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestVolumes(t *testing.T) {
	for _, test := range []struct {
		pod, want, unknown string // want: nodes and filters with one message
		all                bool
	}{
		{pod: "one", all: true, want: "a1 a2 b"},
		{pod: "zoned", all: true, want: "a1 a2; VolumeBinding 1: the volume zoned of its claim zoned can be used only on nodes with topology.kubernetes.io/zone=a"},
		{pod: "local", all: true, want: "b; VolumeBinding 2: the volume local of its claim local can be used only on nodes with kubernetes.io/hostname=b"},
		{pod: "old", all: true, want: "b; VolumeZone 2: the volume old of its claim old has failure-domain.beta.kubernetes.io/zone=b__c"},
		{pod: "one two", all: true, want: "a1 b; NodeVolumeLimits 1: the node's limit of volumes of disk is 1, and it has 0"},
		{pod: "one later", all: true, want: "a1 b; NodeVolumeLimits 1: the node's limit of volumes of disk is 1, and it has 0"},
		{pod: "gone", all: true, want: "; VolumeBinding 3: the volume nothing of its claim gone does not exist"},
		{pod: "gone", want: "a1 a2 b", unknown: "the volume nothing of the claim ns/gone is not known"},
		{pod: "nowhere", all: true, want: "; VolumeBinding 3: its claim nowhere does not exist"},
		{pod: "nowhere", want: "a1 a2 b", unknown: "the claim ns/nowhere is not known"},
		{pod: "lost", want: "; VolumeBinding 3: the volume of its claim lost is lost"},
		{pod: "ending", want: "; VolumeBinding 3: its claim ending is being deleted"},
		{pod: "later", want: "a1 a2 b"},
		{pod: "now", want: "; VolumeBinding 3: its claim now has no volume yet, and its storage class now binds one before the pod is scheduled"},
		{pod: "hand", want: "a1 a2 b", unknown: "which volume the claim ns/hand gets is not known"},
		{pod: "odd", want: "a1 a2 b", unknown: "the storage class odd of the claim ns/odd is not known"},
		{pod: "odd", all: true, want: "; VolumeBinding 3: its claim odd has no volume, and no storage class provides one"},
		{pod: "none", want: "; VolumeBinding 3: its claim none has no volume, and no storage class provides one"},
	} {
		c := shelves(t, test.all)
		p := claiming("p", "", strings.Fields(test.pod)...)
		a := c.Where(p, nil)
		if got := tell(&a); got != test.want {
			t.Errorf("%s: got %q, want %q", test.pod, got, test.want)
		}
		if got := strings.Join(a.Unknown, ", "); got != test.unknown {
			t.Errorf("%s: unknown: got %q, want %q", test.pod, got, test.unknown)
		}
	}
}

// tell returns the answer in a line, with the nodes sorted.
func tell(a *placement.Answer) string {
	var names []string
	for _, n := range []string{"a1", "a2", "b"} {
		for _, m := range a.Nodes {
			if n == m {
				names = append(names, n)
			}
		}
	}
	text := strings.Join(names, " ")
	for _, r := range a.Rejections {
		text += fmt.Sprintf("; %s %d: %s", r.Filter, r.Nodes, r.Message)
	}
	return text
}

// TestVolumesInUse: what other pods mount and what is attached counts, once, until it goes.
func TestVolumesInUse(t *testing.T) {
	c := shelves(t, true)
	first, second := claiming("first", "a2", "one"), claiming("second", "", "two")
	if err := c.Add(first); err != nil {
		t.Fatal(err)
	}
	if c.Fits(second, "a2") {
		t.Error("a2 has a volume, and can have one")
	}
	if !c.Fits(claiming("third", "", "one"), "a2") {
		t.Error("the volume is there already")
	}
	c.Remove(first)
	if !c.Fits(second, "a2") {
		t.Error("its volume has gone with the pod")
	}
	single := claiming("single", "b", "single")
	if err := c.Add(single); err != nil {
		t.Fatal(err)
	}
	other := claiming("other", "", "single")
	a := c.Where(other, nil)
	if got := tell(&a); got != "; VolumeRestrictions 3: another pod uses the claim ns/single, which allows one pod (ReadWriteOncePod)" {
		t.Error(got)
	}
	if _, ok := c.First(other, nil); ok {
		t.Error("a second pod with the claim")
	}
	c.Remove(single)
	if _, ok := c.First(other, nil); !ok {
		t.Error("the claim is free")
	}
}

// TestAttachedAndMounted: a volume that is attached for a pod of the node counts once; one that is
// attached for nobody counts too.
func TestAttachedAndMounted(t *testing.T) {
	for _, test := range []struct {
		attached string
		fits     bool
	}{{"one", true}, {"stray", false}} {
		volumes := map[string]*placement.Volume{}
		claims := map[string]*placement.Claim{}
		for _, name := range []string{"one", "two", "stray"} {
			volumes[name], claims["ns/"+name] = &placement.Volume{Driver: "disk", Handle: name}, &placement.Claim{Volume: name}
		}
		c := placement.New(&placement.Options{RoomUntold: true, Storage: &placement.Storage{
			Volumes: volumes, Claims: claims, Limits: map[string]map[string]int{"n": {"disk": 2}},
			Attached: map[string][]string{"n": {test.attached}}, AllClaims: true, AllVolumes: true, AllClasses: true,
		}})
		if err := c.SetNode(&fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n"}}); err != nil {
			t.Fatal(err)
		}
		if err := c.Add(claiming("first", "n", "one")); err != nil {
			t.Fatal(err)
		}
		if got := c.Fits(claiming("second", "", "two"), "n"); got != test.fits {
			t.Errorf("%s is attached, one is mounted, and two may be: two fits: %v", test.attached, got)
		}
	}
}

// TestNominated: room that is made for a pod is not taken by one of no higher priority.
func TestNominated(t *testing.T) {
	c := placement.New(nil)
	if err := c.SetNode(sized("n", 4)); err != nil {
		t.Fatal(err)
	}
	waiting := weighted("waiting", "", 10, 3)
	waiting.Status.NominatedNodeName = "n"
	if err := c.Add(waiting); err != nil {
		t.Fatal(err)
	}
	low, high := weighted("low", "", 10, 2), weighted("high", "", 11, 2)
	if c.Fits(low, "n") || !c.Fits(high, "n") || !c.Fits(waiting, "n") {
		t.Error("low:", c.Fits(low, "n"), "high:", c.Fits(high, "n"), "itself:", c.Fits(waiting, "n"))
	}
	why := c.Evaluate(low, "n")
	if len(why) != 1 || !strings.Contains(why[0].Message, "the room that is made for pod "+waiting.Namespace+"/waiting") {
		t.Error(why)
	}
	waiting.Spec.NodeName = "elsewhere"
	if err := c.Add(waiting); err != nil {
		t.Fatal(err)
	}
	if !c.Fits(low, "n") {
		t.Error("it has another node now")
	}
}
