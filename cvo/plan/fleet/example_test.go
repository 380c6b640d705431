package fleet_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/plan/fleet"
)

// Canaries first, then two at a time.
func ExampleChoose() {
	w := &fleet.World{
		Groups:   []fleet.Group{{Name: "canaries", Clusters: []string{"test"}}, {Name: "shops", Clusters: []string{"berlin", "lima", "oslo"}}},
		Clusters: []fleet.Cluster{{Name: "test", Status: fleet.Succeeded, Since: now.Add(-time.Hour)}},
	}
	s := &fleet.Strategy{First: []string{"canaries"}, Concurrency: fairlead.IntOrString{Int: 2}, Soak: 24 * time.Hour}
	for _, at := range []time.Time{now, now.Add(24 * time.Hour)} {
		c, _ := fleet.Choose(w, s, at)
		fmt.Println(c)
		for _, name := range []string{"test", "oslo"} {
			why, _ := fleet.Why(w, s, at, name)
			fmt.Println("  ", why)
		}
	}
	// Output:
	// nothing starts now; under way or soaking: test
	//    test is done, and soaks until 2026-05-02T11:00:00Z
	//    oslo is not yet due: its group shops comes after canaries, which is not over: test
	// start berlin and lima
	//    test is done
	//    oslo is not yet due: 2 may be under way or soak at a time, and those are berlin and lima
}

// Which clusters can go, and what a catalog that gets an update would do to all.
func ExampleSurvey() {
	moves := []plan.Move{{From: "4.19.4", To: "4.20.2"}}
	shops := func(hop bool) []fleet.Member {
		old, new := queue("v1", hop), queue("v2", hop)
		return []fleet.Member{{"berlin", cluster("4.19.4", moves, old)}, {"lima", cluster("4.19.4", moves, old)}, {"oslo", cluster("4.19.4", moves, new)}}
	}
	goal := &plan.Goal{Release: "4.20.2"}
	before, _ := fleet.Survey(context.Background(), shops(false), goal, nil)
	for _, g := range before.Groups {
		fmt.Println(g.Clusters, g.Goes(), g.Steps, len(g.Facts))
	}
	after, _ := fleet.Survey(context.Background(), shops(true), goal, nil)
	for _, c := range fleet.Compare(before, after) {
		fmt.Println(c.Clusters, "can go now:", c.After.Goes(), "by", c.After.Steps, "steps")
	}
	// Output:
	// [oslo] true 1 0
	// [berlin lima] false 0 2
	// [berlin lima] can go now: true by 2 steps
}
