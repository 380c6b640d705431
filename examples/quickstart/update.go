package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// updateCluster updates a whole cluster to its next release in virtual time.
func updateCluster(ctx context.Context, w io.Writer) error {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	cluster := cvo.NewMemBackend(clock)
	images := map[string]string{}
	for _, version := range []string{"4.18.3", "4.18.4"} {
		files, err := fs.Sub(embedded, "releases/"+version)
		if err != nil {
			return err
		}
		release, err := payload.Load(files, nil)
		if err != nil {
			return err
		}
		images[version] = "registry.example/release@sha256:" + version
		cluster.SetRelease(images[version], release, true, 20*time.Second)
	}
	own := cvo.Release{Version: "4.18.3", Image: images["4.18.3"]}
	cluster.SetCluster("harbour", cvo.Spec{}, own)
	cluster.Operators["etcd"], cluster.Operators["machine-config"] = 12*time.Minute, 40*time.Minute
	runner, err := cvo.NewRunner(cluster, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		return err
	}
	if err := until(ctx, io.Discard, runner, cluster, clock, own.Version); err != nil {
		return err
	}
	clock.Advance(time.Hour)
	say(w, clock, "you ask for 4.18.4")
	cluster.SetCluster("harbour", cvo.Spec{DesiredUpdate: &cvo.Update{Version: "4.18.4", Image: images["4.18.4"]}}, own)
	if err := until(ctx, w, runner, cluster, clock, "4.18.4"); err != nil {
		return err
	}
	say(w, clock, "the cluster is at 4.18.4")
	return nil
}

// until runs the engine, whenever it wants to wake, until a release is complete, and
// reports what it waits for.
func until(ctx context.Context, w io.Writer, runner *cvo.Runner, cluster *cvo.MemBackend, clock *fairlead.ManualClock, version string) error {
	waits := ""
	for {
		d, err := runner.Reconcile(ctx, "harbour")
		if err != nil {
			return err
		}
		if h := cluster.Version("harbour").Status.History; len(h) > 0 && h[0].Version == version && h[0].State == cvo.Completed {
			return nil
		}
		if len(d.Actions) > 0 {
			continue // look again at what they did
		}
		for _, b := range d.Blocked {
			if text := "waits for " + b.Subject; text != waits {
				waits = text
				say(w, clock, text)
				indent(w, "          "+b.Message+"\n          "+b.Unblock)
			}
		}
		next := cluster.Next("harbour")
		if next.IsZero() || d.Wake.Before(next) {
			next = d.Wake
		}
		if next.IsZero() {
			return fmt.Errorf("nothing more happens: %v", d.Blocked)
		}
		clock.Set(next)
	}
}
