package diagnosis

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
)

const (
	lateTime = 10 * time.Minute // how late a CronJob may be
	zones    = 14 * time.Hour   // how far zones are from UTC
	// leastDeadline is how long the controller may take to look at a CronJob (kubernetes/website, CronJob).
	leastDeadline = 10
)

// cronJobsWait adds the CronJobs that did not start when they should have. One that is suspended is as
// somebody wants it: it is added only if it is asked about.
func (b *builder) cronJobsWait() {
	for i := range b.apps.cronJobs {
		c := &b.apps.cronJobs[i]
		if c.DeletionTimestamp != nil {
			continue
		}
		x := Node{Kind: "CronJob", Namespace: c.Namespace, Name: c.Name, State: Faulty, Sure: Seen, Owner: "owner of the CronJob"}
		what := "cronjob " + c.ObjectMeta.String()
		x.command = shell.Command("kubectl -n %s describe cronjob %s", c.Namespace, c.Name)
		switch due := b.missed(c); {
		case c.Spec.Suspend && !slices.Contains(b.of, ID(x.Kind, x.Namespace, x.Name)):
		case c.Spec.Suspend:
			x.Reason, x.Says, x.do = CronJobSuspended, what+" is suspended"+ran(c, b.now), "let it go on, unless that is meant"
			b.add(x)
		case !due.IsZero():
			x.Reason, x.Sure = CronJobLate, Derived
			x.Says, x.do = what+" should have started at "+clock(due, b.now)+", and has not", "see what its events say"
			b.lateBecause(c, &x)
			x.Says += ran(c, b.now)
			b.add(x)
		}
	}
}

// ran says when a CronJob started last.
func ran(c *snapshot.CronJob, now time.Time) string {
	if c.Status.LastScheduleTime.IsZero() {
		return "; it never ran"
	}
	return "; it ran last at " + clock(c.Status.LastScheduleTime, now)
}

// missed returns the start that a CronJob missed; zero if it is not known to have missed one. Schedules
// of zones other than UTC are taken with a margin.
func (b *builder) missed(c *snapshot.CronJob) time.Time {
	s, ok := scheduleOf(c.Spec.Schedule)
	last := c.Status.LastScheduleTime
	if last.IsZero() {
		last = c.CreationTimestamp
	}
	if !ok || last.IsZero() {
		return time.Time{}
	}
	margin := time.Duration(0)
	if zone := c.Spec.TimeZone; s.daily() && zone != "" && !slices.Contains([]string{"UTC", "Etc/UTC", "GMT"}, zone) {
		margin = zones
	}
	due := s.last(b.now.Add(-lateTime - margin).UTC())
	if !due.After(last.Add(margin)) {
		return time.Time{}
	}
	return due
}

// lateBecause says why a CronJob did not start.
func (b *builder) lateBecause(c *snapshot.CronJob, x *Node) {
	id := ID(x.Kind, x.Namespace, x.Name)
	switch said := b.said[id]; {
	case c.Spec.ConcurrencyPolicy == "Forbid" && len(c.Status.Active) > 0:
		job := c.Status.Active[0].Name
		x.Says += ": its policy Forbid waits for job " + job + ", which has not ended"
		x.do, x.command = "see why that job does not end", shell.Command("kubectl -n %s describe job %s", c.Namespace, job)
		for i := range b.g.Nodes {
			if n := &b.g.Nodes[i]; n.Kind == "Pod" && n.Namespace == c.Namespace && strings.HasPrefix(n.Name, job+"-") && n.State != Going {
				b.wait(id, n.ID, "Concurrency", Derived)
				x.State = Waiting
			}
		}
	case c.Spec.StartingDeadlineSeconds != nil && *c.Spec.StartingDeadlineSeconds < leastDeadline:
		x.Says += ": its startingDeadlineSeconds is shorter than the 10 seconds in which the controller looks at it"
		x.do, x.command = "give it a longer startingDeadlineSeconds", shell.Command("kubectl -n %s patch cronjob %s --type merge -p %s", c.Namespace, c.Name, `{"spec":{"startingDeadlineSeconds":200}}`)
	case len(said) > 0:
		x.Quote = said[0]
		x.because(failure.Sign{Message: said[0]}, 140)
	default:
		b.waitsFor(x, id, controllerManager)
	}
}

// resume lets a CronJob go on: it starts what it missed.
func (w *world) resume(namespace, name string) bool {
	k := slices.IndexFunc(w.apps.cronJobs, func(c snapshot.CronJob) bool { return c.Namespace == namespace && c.Name == name })
	if k < 0 {
		return false
	}
	w.apps.cronJobs = slices.Clone(w.apps.cronJobs)
	w.apps.cronJobs[k].Spec.Suspend, w.apps.cronJobs[k].Status.LastScheduleTime = false, w.now
	return true
}
