package plan

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/semverx"
)

// playImage is the image of a release.
func playImage(release string) string {
	return fmt.Sprintf("release@sha256:%x", sha256.Sum256([]byte(release)))
}

// playLevels is how many operators a release has that come one after the other.
const playLevels = 4

// tellReleases tells the releases of the plan.
func (y *player) tellReleases(p *Plan, opts *PlayOptions) {
	list := []string{y.start}
	for _, m := range y.input.Situation.Moves {
		list = append(list, m.From, m.To)
	}
	slices.Sort(list)
	for _, v := range slices.Compact(list) {
		var own *payload.Payload
		if opts.Payload != nil {
			own = opts.Payload(v)
		}
		if own == nil {
			own = playPayload(v)
		}
		y.releases.SetRelease(playImage(v), own, true, time.Minute)
	}
	y.releases.SetCluster("version", cvo.Spec{ClusterID: "f0e1d2c3-b4a5-4968-8776-5a4b3c2d1e0f"}, cvo.Release{Version: y.start, Image: playImage(y.start)})
}

// playPayload is a release of operators that come one after the other.
func playPayload(version string) *payload.Payload {
	files := map[string]string{
		"manifests/README":                   "none",
		"release-manifests/release-metadata": fmt.Sprintf(`{"kind":"cincinnati-metadata-v0","version":%q}`, version),
		"release-manifests/image-references": fmt.Sprintf(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":%q}}`, version),
	}
	for i := range playLevels {
		name := fmt.Sprint("operators-", i+1)
		files[fmt.Sprintf("release-manifests/0000_%d0_%s_99_clusteroperator.yaml", i+2, name)] = "apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata:\n  name: " + name +
			"\n  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\nstatus: {versions: [{name: operator, version: " + version + "}]}\n"
	}
	own, err := payload.Load(inMemory(files), nil)
	if err != nil {
		panic(err) // unreachable: it is a payload
	}
	return own
}

// inMemory returns files as a file system.
func inMemory(files map[string]string) fs.FS {
	var text bytes.Buffer
	z := zip.NewWriter(&text)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, files[name])
		}
		if err != nil {
			panic(err) // unreachable: a buffer
		}
	}
	if err := z.Close(); err != nil {
		panic(err) // unreachable: a buffer
	}
	own, err := zip.NewReader(bytes.NewReader(text.Bytes()), int64(text.Len()))
	if err != nil {
		panic(err) // unreachable: it was written so
	}
	return own
}

// release is a pass of cvo.
func (y *player) release(ctx context.Context) error {
	w, err := y.releaseCalls.Observe(ctx, "version")
	if err != nil {
		return ctx.Err()
	}
	w.Outcomes = y.outcomes
	d := cvo.Step(y.state, w, y.clock.Now(), nil)
	y.state, y.outcomes = d.State, nil
	y.busy = y.busy || len(d.Actions) > 0
	for _, a := range d.Actions {
		err := y.releaseCalls.Apply(ctx, "version", a)
		y.outcomes = append(y.outcomes, fairlead.OutcomeOf(a.Key(), err, y.clock.Now()))
	}
	return nil
}

// rollout gives a pool what the release has, and is a pass of cvo/rollout.
func (y *player) rollout(ctx context.Context, pool string) error {
	h := y.releases.Version("version").Status.History
	if len(h) > 0 && h[0].State == cvo.Completed { // a pool that was behind goes on when the play begins
		release := h[0].Version
		if first := y.runs(pool); semverx.Tolerant(first).Compare(semverx.Tolerant(release)) > 0 {
			release = first // the next one is under way
		}
		config := y.config(pool, release)
		if err := y.pools.Edit(pool, func(w *rollout.World) error {
			w.Pool.Spec.Configuration.Name = config
			return nil
		}); err != nil {
			return err
		}
	}
	w, err := y.poolCalls.Observe(ctx, pool)
	if err != nil {
		return ctx.Err()
	}
	d := rollout.Step(y.rollouts[pool], w, y.clock.Now(), nil)
	y.rollouts[pool] = d.State
	y.busy = y.busy || len(d.Actions) > 0
	for _, a := range d.Actions {
		_ = y.poolCalls.Apply(ctx, pool, a) // what fails is tried again
	}
	return nil
}
