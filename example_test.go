package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
)

// A manual clock makes an hour pass at once.
func ExampleManualClock() {
	var clock fairlead.ManualClock
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	deadline := clock.Now().Add(time.Hour)

	done := make(chan error)
	go func() { done <- fairlead.SleepUntil(context.Background(), &clock, deadline) }()

	clock.Advance(time.Hour)
	fmt.Println(<-done, clock.Now().Format(time.Kitchen))
	// Output: <nil> 1:00PM
}

// A change of a stored value reads it, decides, and writes at the revision it
// has read. When somebody else was faster, it begins again.
func ExampleStore() {
	ctx := context.Background()
	var store fairlead.MemStore

	count := func(key string) error {
		for {
			rec, err := store.Get(ctx, key)
			if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
				return err
			}
			n, _ := strconv.Atoi(string(rec.Value)) // an absent key counts from zero
			_, err = store.Put(ctx, key, []byte(strconv.Itoa(n+1)), rec.Revision)
			if !errors.Is(err, fairlead.ErrConflict) {
				return err
			}
		}
	}
	for range 3 {
		if err := count("drains.worker-1"); err != nil {
			fmt.Println(err)
		}
	}

	for rec, err := range store.List(ctx, "drains.") {
		fmt.Println(rec.Key, string(rec.Value), err)
	}
	// Output: drains.worker-1 3 <nil>
}

// A store of your own is examined in a test of its package. This one is not
// durable: each opening gives another, empty store.
func ExampleCheckStore() {
	err := fairlead.CheckStore(context.Background(), func() (fairlead.Store, error) {
		return new(fairlead.MemStore), nil
	})
	fmt.Println(err)
	// Output:
	// fairlead.CheckStore: 1 of 14 rules broken:
	// 	durability: Get("key1") after the store was closed and opened again: store: key "key1": key not found
}

// State in a directory is there again after a restart.
func ExampleFileStore() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	store, err := fairlead.OpenFileStore(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	rev, err := store.Put(ctx, "lifecycle.worker-1", []byte("draining"), "")
	fmt.Println(rev != "", err, store.Close())

	store, err = fairlead.OpenFileStore(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	rec, err := store.Get(ctx, "lifecycle.worker-1")
	fmt.Println(string(rec.Value), rec.Revision == rev, err)
	// Output:
	// true <nil> <nil>
	// draining true <nil>
}

// A block reads as one line, with the way out.
func ExampleBlock() {
	fmt.Println(fairlead.Block{
		Subject: "machine worker-1",
		Reason:  "PreDrainHook",
		Message: `hook "migrate-data" has not completed`,
		Owner:   "storage-operator",
		Since:   time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Unblock: "have the owner remove the hook from spec.lifecycleHooks.preDrain",
	})
	// Output: machine worker-1: PreDrainHook: hook "migrate-data" has not completed (owner storage-operator, since 2026-03-01T12:00:00Z); to unblock: have the owner remove the hook from spec.lifecycleHooks.preDrain
}
