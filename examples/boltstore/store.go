// Package boltstore keeps the state of engines in a bbolt database: an example of
// a custom fairlead.Store. Copy it into your program and change it as you like.
//
// List is easy to get wrong. The caller may write inside its loop, and a bbolt
// database that must grow waits for all read transactions to end. A read
// transaction that is open while the loop runs is therefore a deadlock, which
// shows once there is enough data. List reads some records at a time, and ends its
// transaction before it yields them. fairlead.CheckStore checks that.
package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
	"go.etcd.io/bbolt"
)

var bucket = []byte("fairlead")

// batch is how many records List reads in one transaction.
const batch = 64

// Store is a fairlead.Store in one bucket of a bbolt database. A value is stored
// after the eight bytes of its revision, which is the bucket's sequence number: it
// is never reused, because the bucket stores it.
type Store struct{ db *bbolt.DB }

// Open opens the database in a file, and creates it if necessary. Only one process
// at a time can have it open; a second one fails after one second.
func Open(path string) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &Store{db}, nil
}

// Close implements io.Closer.
func (s *Store) Close() error { return s.db.Close() }

// record decodes what is stored under a key; the revision is empty if there is
// nothing. It copies the value, since bbolt's memory is valid only during the
// transaction.
func record(key, stored []byte) fairlead.Record {
	if stored == nil {
		return fairlead.Record{Key: string(key)}
	}
	return fairlead.Record{
		Key: string(key), Value: bytes.Clone(stored[8:]),
		Revision: fairlead.Revision(strconv.FormatUint(binary.BigEndian.Uint64(stored), 10)),
	}
}

// Get implements fairlead.Store.
func (s *Store) Get(ctx context.Context, key string) (rec fairlead.Record, err error) {
	if err := ctx.Err(); err != nil {
		return rec, err
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		rec = record([]byte(key), tx.Bucket(bucket).Get([]byte(key)))
		return nil
	})
	if err == nil && rec.Revision == "" {
		err = fairlead.ErrNotFound
	}
	return rec, err
}

// Put implements fairlead.Store.
func (s *Store) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (rev fairlead.Revision, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := fairlead.CheckLimits(key, value); err != nil {
		return "", err
	}
	err = s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		if record(nil, b.Get([]byte(key))).Revision != prev {
			return fairlead.ErrConflict
		}
		n, err := b.NextSequence()
		if err != nil {
			return err
		}
		rev = fairlead.Revision(strconv.FormatUint(n, 10))
		return b.Put([]byte(key), append(binary.BigEndian.AppendUint64(nil, n), value...))
	})
	if err != nil {
		return "", err
	}
	return rev, nil
}

// Delete implements fairlead.Store.
func (s *Store) Delete(ctx context.Context, key string, prev fairlead.Revision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		switch record(nil, b.Get([]byte(key))).Revision {
		case "":
			return fairlead.ErrNotFound
		case prev:
			return b.Delete([]byte(key))
		}
		return fairlead.ErrConflict
	})
}

// List implements fairlead.Store.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[fairlead.Record, error] {
	return func(yield func(fairlead.Record, error) bool) {
		next := []byte(prefix)
		for {
			if err := ctx.Err(); err != nil {
				yield(fairlead.Record{}, err)
				return
			}
			records, err := s.read(next, []byte(prefix))
			if err != nil {
				yield(fairlead.Record{}, err)
				return
			}
			for _, r := range records { // the transaction is over
				if !yield(r, nil) {
					return
				}
			}
			if len(records) < batch {
				return
			}
			next = append([]byte(records[len(records)-1].Key), 0) // the key that follows
		}
	}
}

// read returns at most batch records with a prefix, starting at a key.
func (s *Store) read(from, prefix []byte) (records []fairlead.Record, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucket).Cursor()
		for k, v := c.Seek(from); bytes.HasPrefix(k, prefix) && k != nil && len(records) < batch; k, v = c.Next() {
			records = append(records, record(k, v))
		}
		return nil
	})
	return records, err
}
