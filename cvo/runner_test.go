package cvo_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
)

// The rows Test_SyncWorkerShouldNotPanicDueToNotifySignalAtStartUp and
// Test_SyncWorkerShouldShutDownImmediatelyAtStartUpWhenContextCancelled.
func TestRunnerStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := cvo.NewMemBackend(nil)
		backend.SetRelease(imageOne, release(t, "4.18.0", []part{{runlevel: 10, component: "etcd", objects: 1}}, nil), true, 0)
		backend.SetCluster("east", cvo.Spec{}, cvo.Release{Version: "4.18.0", Image: imageOne})
		runner := newRunner(t, backend, nil, new(fairlead.RunnerOptions))
		for range 3 {
			runner.Trigger("east") // before anybody runs it
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- runner.Run(ctx) }()
		time.Sleep(time.Minute)
		if h := backend.Version("east").Status.History; len(h) != 1 || h[0].State != cvo.Completed {
			t.Errorf("what was nudged before is not done: %+v", h)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		begin := time.Now()
		if err := newRunner(t, backend, nil, new(fairlead.RunnerOptions)).Run(ctx); err != nil || time.Since(begin) != 0 {
			t.Errorf("after the context ended: %v, after %s", err, time.Since(begin))
		}
	})
}
