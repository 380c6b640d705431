package kube_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
)

// counting counts the calls of Get.
type counting struct {
	fairlead.Store
	gets int
}

func (c *counting) Get(ctx context.Context, key string) (fairlead.Record, error) {
	c.gets++
	return c.Store.Get(ctx, key)
}

func TestCachedAsksOnce(t *testing.T) {
	below := &counting{Store: new(fairlead.MemStore)}
	c := kube.NewCached(below)
	get := func(key, want string, wantErr error, gets int) fairlead.Revision {
		t.Helper()
		r, err := c.Get(t.Context(), key)
		if string(r.Value) != want || !errors.Is(err, wantErr) || below.gets != gets {
			t.Fatalf("%q, %v, %d calls", r.Value, err, below.gets)
		}
		return r.Revision
	}
	get("a", "", fairlead.ErrNotFound, 1)
	get("a", "", fairlead.ErrNotFound, 1)
	value := []byte("1")
	at, err := c.Put(t.Context(), "a", value, "")
	if err != nil {
		t.Fatal(err)
	}
	value[0] = 'x' // the caller's
	get("a", "1", nil, 1)

	other, err := below.Put(t.Context(), "a", []byte("2"), at)
	if err != nil {
		t.Fatal(err)
	}
	get("a", "1", nil, 1) // old, and harmless:
	if _, err := c.Put(t.Context(), "a", []byte("3"), at); !errors.Is(err, fairlead.ErrConflict) {
		t.Fatal(err)
	}
	if now := get("a", "2", nil, 2); now != other {
		t.Fatal(now)
	}
	if err := c.Delete(t.Context(), "a", other); err != nil {
		t.Fatal(err)
	}
	get("a", "", fairlead.ErrNotFound, 2)
}

// With one writer it is a Store like any other.
func TestCachedCheckStore(t *testing.T) {
	below := new(fairlead.MemStore)
	c := kube.NewCached(below)
	if err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) { return c, nil }); err != nil {
		t.Error(err)
	}
}
