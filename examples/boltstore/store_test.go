package boltstore_test

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/boltstore"
	"go.etcd.io/bbolt"
)

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) { return boltstore.Open(path) })
	if err != nil {
		t.Error(err)
	}
}

// natural is the Store with the most obvious List: the caller's code runs inside a
// read transaction.
type natural struct {
	*boltstore.Store
	db *bbolt.DB
}

func (n natural) List(_ context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	return func(yield func(fairlead.Record, error) bool) {
		_ = n.db.View(func(*bbolt.Tx) error {
			for r, err := range n.Store.List(context.Background(), prefix) {
				if !yield(r, err) {
					break
				}
			}
			return nil
		})
	}
}

// CheckStore finds that mistake promptly, and says what to do.
func TestListInsideTransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	err := fairlead.CheckStore(t.Context(), func() (fairlead.Store, error) {
		s, err := boltstore.Open(path)
		if err != nil {
			return nil, err
		}
		return natural{s, s.DB()}, nil
	})
	if want := "List seems to hold a read transaction"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
