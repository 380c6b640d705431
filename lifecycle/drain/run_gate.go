package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// Gate keeps the slots of [Admit] in a Store, so that several processes share
// the same limits, and a crash loses no slots. It may be used by several
// goroutines.
type Gate struct {
	store  fairlead.Store
	key    string
	limits []Limit
}

// gateVersion is the version of what a Gate saves.
const gateVersion = 1

// gateRecord is what a Gate saves.
type gateRecord struct {
	Version int    `json:"version"`
	Slots   []Slot `json:"slots"`
}

// NewGate returns a gate that keeps its slots under a key of a store. The error
// is of type fairlead.FieldErrors, or says what is wrong with the key.
func NewGate(store fairlead.Store, key string, limits []Limit) (*Gate, error) {
	if err := fairlead.CheckLimits(key, nil); err != nil {
		return nil, err
	}
	var errs fairlead.FieldErrors
	checkLimits(limits, &errs)
	return &Gate{store, key, slices.Clone(limits)}, errs.Err()
}

// Admit is [Admit] on the stored slots. They are saved before it returns, by
// compare-and-swap: if somebody else has changed them meanwhile, it decides on
// those. Members must be observed after the call began, or be as new as the
// decision requires: a missing member gives its slots back.
func (g *Gate) Admit(ctx context.Context, members []Member, now time.Time) (*Admission, error) {
	for {
		var old gateRecord
		record, err := g.store.Get(ctx, g.key)
		switch {
		case errors.Is(err, fairlead.ErrNotFound):
		case err != nil:
			return nil, err
		default:
			if err := json.Unmarshal(record.Value, &old); err != nil {
				return nil, fmt.Errorf("slots under key %s: %w; delete the key: members that have begun get their slots back", g.key, err)
			}
			if old.Version > gateVersion {
				return nil, fmt.Errorf("slots under key %s are of version %d, and this program knows version %d; run a newer one", g.key, old.Version, gateVersion)
			}
		}
		a, err := Admit(old.Slots, members, g.limits, now)
		if err != nil || slices.EqualFunc(a.Slots, old.Slots, Slot.equal) {
			return a, err
		}
		data, err := json.Marshal(gateRecord{gateVersion, a.Slots})
		if err != nil {
			return nil, err
		}
		switch _, err = g.store.Put(ctx, g.key, data, record.Revision); {
		case err == nil:
			return a, nil
		case !errors.Is(err, fairlead.ErrConflict):
			return nil, err
		}
	}
}

// equal reports whether two slots are the same.
func (s Slot) equal(o Slot) bool {
	t := s
	t.Since = o.Since
	return t == o && s.Since.Equal(o.Since)
}
