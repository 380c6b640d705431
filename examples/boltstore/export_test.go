package boltstore

import "go.etcd.io/bbolt"

// DB is the database, for a test that opens a transaction.
func (s *Store) DB() *bbolt.DB { return s.db }
