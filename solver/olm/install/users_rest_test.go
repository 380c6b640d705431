package install_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// rest lets the engine work until nothing is written any more. In the end
// nothing but an event may change anything.
func (u *users) rest(end bool) error {
	u.plans = 0
	until := u.Clock.Now().Add(6 * time.Minute)
	if end {
		until = u.Clock.Now().Add(time.Hour) // a plan may have to give up before
	}
	for range 1000 {
		acted := false
		var wake time.Time
		var all []install.Decision
		for _, team := range teams {
			d, err := u.runner.Reconcile(u.t.Context(), team)
			if err != nil {
				u.Note("%s: %v", team, err)
			}
			for _, a := range d.Actions {
				u.Note("%s: %s", team, describe(a))
			}
			acted = acted || len(d.Actions) > 0 || err != nil
			if wake.IsZero() || !d.Wake.IsZero() && d.Wake.Before(wake) {
				wake = d.Wake
			}
			all = append(all, d)
		}
		if u.plans > 12 {
			return fmt.Errorf("%d plans were made for one event", u.plans)
		}
		switch {
		case acted:
		case wake.IsZero():
			return u.told(all)
		case wake.After(until) && end:
			return fmt.Errorf("at rest, it is to be looked again at %s: %v", wake, all)
		case wake.After(until):
			return u.told(all)
		default:
			u.Clock.Set(wake)
		}
		if u.Clock.Now().After(until) && !end {
			return u.told(all) // what fails is tried again for as long as it does
		}
	}
	return fmt.Errorf("it does not come to rest")
}

// told checks that whatever is not as it should be has a Block.
func (u *users) told(all []install.Decision) error {
	for i, team := range teams {
		w := u.backend.World(team)
		d := &all[i]
		about := func(subject string) bool {
			return slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return strings.HasPrefix(b.Subject, subject) })
		}
		for _, b := range d.Blocked {
			if b.Since.IsZero() || b.Owner == "" || b.Unblock == "" || b.Subject == "" || b.Reason == "" || b.Message == "" {
				return fmt.Errorf("%s: a block says too little: %+v", team, b)
			}
			switch b.Reason {
			case install.ReasonApproval:
				u.Reach("waits for approval")
			case install.ReasonUnsatisfiable:
				u.Reach("waits unsatisfied")
				if strings.HasPrefix(b.Subject, "subscription ") {
					u.Reach("left out")
				}
			}
		}
		for _, c := range w.CSVs {
			if !c.Copied() && c.Status.Phase != olm.PhaseSucceeded {
				u.Reach("csv waits")
				if !about("csv " + c.Name) {
					return fmt.Errorf("%s: at rest %s is %q, and there is no Block: %v", team, c.Name, c.Status.Phase, d.Blocked)
				}
			}
		}
		for _, p := range w.Plans {
			if p.Status.Phase != install.PlanComplete && p.Status.Phase != install.PlanFailed && !about("installplan "+p.Name) {
				return fmt.Errorf("%s: at rest %s is %s, and there is no Block: %v", team, p.Name, p.Status.Phase, d.Blocked)
			}
		}
		for _, s := range w.Subscriptions {
			has := findCSV(w, s.Status.InstalledCSV)
			if (has == nil || s.Status.CurrentCSV != s.Status.InstalledCSV) && len(d.Blocked) == 0 {
				return fmt.Errorf("%s: at rest subscription %s has %+v, and there is no Block", team, s.Name, s.Status)
			}
		}
		if d.State.Removal != nil && len(d.Blocked) == 0 {
			return fmt.Errorf("%s: a removal is under way, and there is no Block", team)
		}
	}
	return nil
}
