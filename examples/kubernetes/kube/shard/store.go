package shard

import (
	"context"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
)

// store is the result of [Member.Store].
type store struct {
	fairlead.Store
	member *Member
}

// Store returns a store that makes as few requests to the given one as possible:
// within passes over an object, the state of the object is remembered as long as
// the member holds the object's shard. Everything else may be written by others,
// and is not remembered.
func (m *Member) Store(s fairlead.Store) fairlead.Store { return &store{s, m} }

// of returns the store to use for a key.
func (s *store) of(ctx context.Context, key string) fairlead.Store {
	p, ok := ctx.Value(passKey{}).(pass)
	if _, object, found := strings.Cut(key, "."); !ok || !found || fairlead.StateKey("", p.name) != "."+object {
		return s.Store
	}
	s.member.mu.Lock()
	defer s.member.mu.Unlock()
	if p.term.caches[s] == nil {
		p.term.caches[s] = kube.NewCached(s.Store)
	}
	return p.term.caches[s]
}

func (s *store) Get(ctx context.Context, key string) (fairlead.Record, error) {
	return s.of(ctx, key).Get(ctx, key)
}

func (s *store) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (fairlead.Revision, error) {
	return s.of(ctx, key).Put(ctx, key, value, prev)
}

func (s *store) Delete(ctx context.Context, key string, prev fairlead.Revision) error {
	return s.of(ctx, key).Delete(ctx, key, prev)
}
