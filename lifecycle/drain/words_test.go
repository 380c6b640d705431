package drain

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead"
)

// Who can end a wait: the owner that it names. Of a pod that is not removed, that is its
// controller, or whoever created it. A replacement that must come first has no owner.
func TestWhoEndsAWait(t *testing.T) {
	for _, c := range []struct{ reason, owner, want string }{
		{ReasonReplacementDue, "", "whoever creates nodes"},
		{ReasonReplacementDue, "limit a", "limit a"},
		{ReasonPodRuns, "", "whoever created the pod"}, {ReasonPodProtected, "", "whoever created the pod"}, {ReasonPodInvalid, "", "whoever created the pod"},
		{ReasonPodRuns, "Job d/j", "its controller, Job d/j"}, {ReasonPodProtected, "Job d/j", "its controller, Job d/j"}, {ReasonPodInvalid, "Job d/j", "its controller, Job d/j"},
		{ReasonPodTerminating, "", ""}, {ReasonPodTerminating, "kubelet", "kubelet"}, {ReasonSlotTaken, "node m", "node m"},
	} {
		if got := Words(fairlead.Block{Reason: c.reason, Owner: c.owner}).Owner; got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.reason, c.owner, got, c.want)
		}
	}
}

// A failure names what does not just take time: five kinds of problems at most, by reason
// and detail, each with its first three pods, and says how many more there are.
func TestTrouble(t *testing.T) {
	pods := func(n int, reason, detail string) (all []fairlead.Block) {
		for i := range n {
			all = append(all, fairlead.Block{Reason: reason, Detail: detail, Name: fmt.Sprintf("d/%c", 'a'+i)})
		}
		return all
	}
	const failed = " could not be evicted"
	for _, c := range []struct {
		name  string
		waits []fairlead.Block
		want  string
	}{
		{"none", nil, ""},
		{"that take time", append(pods(1, ReasonPodRuns, ""), pods(1, ReasonPodTerminating, "")...), ""},
		{"one", pods(1, ReasonEvictionFailed, ""), "pod d/a" + failed},
		{"three", pods(3, ReasonEvictionFailed, ""), "pod d/a, d/b, d/c" + failed},
		{"four", pods(4, ReasonEvictionFailed, ""), "pod d/a, d/b, d/c" + failed + " (and 1 more)"},
		{"four with a detail", pods(4, ReasonEvictionFailed, "no"), "pod d/a, d/b, d/c" + failed + " (and 1 more): no"},
		{"two details", append(pods(1, ReasonEvictionFailed, "no"), pods(2, ReasonEvictionFailed, "never")...), "pod d/a" + failed + ": no; pod d/a, d/b" + failed + ": never"},
		{"two reasons", append(pods(1, ReasonEvictionFailed, ""), pods(1, ReasonPodInvalid, "")...), "pod d/a" + failed + "; pod d/a is left alone"},
	} {
		if got := trouble(c.waits); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for kinds, want := range map[int]string{5: "", 6: "; and 1 more", 8: "; and 3 more"} {
		var waits []fairlead.Block
		for i := range kinds {
			waits = append(waits, pods(1, ReasonEvictionFailed, fmt.Sprint("cause ", i))...)
		}
		all := "pod d/a" + failed + ": cause 0; pod d/a" + failed + ": cause 1; pod d/a" + failed + ": cause 2; pod d/a" + failed + ": cause 3; pod d/a" + failed + ": cause 4"
		if got := trouble(waits); got != all+want {
			t.Errorf("%d kinds: %q, want %q", kinds, got, all+want)
		}
	}
}
