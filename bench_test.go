package fairlead_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/fairlead/fairlead"
)

// stores are those whose speed is measured, each with a thousand keys.
func stores(b *testing.B) map[string]fairlead.Watcher {
	files, err := fairlead.OpenFileStore(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { files.Close() })
	return map[string]fairlead.Watcher{"memory": new(fairlead.MemStore), "file": files}
}

// BenchmarkPut writes a kilobyte under one key after the other, each writer
// under its own.
func BenchmarkPut(b *testing.B) {
	for kind, s := range stores(b) {
		b.Run(kind, func(b *testing.B) {
			value := make([]byte, 1000)
			var writers atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(4) // writers per processor
			b.RunParallel(func(pb *testing.PB) {
				key := fmt.Sprint("writer-", writers.Add(1))
				rec, _ := s.Get(b.Context(), key)
				for pb.Next() {
					rev, err := s.Put(b.Context(), key, value, rec.Revision)
					if err != nil {
						b.Error(err)
						return
					}
					rec.Revision = rev
				}
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for kind, s := range stores(b) {
		b.Run(kind, func(b *testing.B) {
			if _, err := s.Put(b.Context(), "key", make([]byte, 1000), mustRevisionB(b, s, "key")); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Get(b.Context(), "key"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func mustRevisionB(b *testing.B, s fairlead.Store, key string) fairlead.Revision {
	rec, _ := s.Get(b.Context(), key)
	return rec.Revision
}
