package reading_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/reading"
)

func sources(clock *fairlead.ManualClock) *reading.Sources[string] {
	return &reading.Sources[string]{
		Clock: clock, Timeout: time.Minute, Each: 2, Retry: fairlead.Backoff{Min: 30 * time.Second, Max: 5 * time.Minute},
		Budget: func(group string) int64 { return map[string]int64{"small": 10}[group] },
	}
}

func source(key, group, form string, read func() (string, error)) reading.Source[string] {
	return reading.Source[string]{Key: key, Group: group, Form: form, Read: func(context.Context, reading.Result[string]) (string, int64, error) {
		text, err := read()
		return text, int64(len(text)), err
	}}
}

// A group whose sources never answer delays no other, and uses no more than its share.
func TestHanging(t *testing.T) {
	clock := &fairlead.ManualClock{}
	s := sources(clock)
	done, began := make(chan bool), make(chan bool, 100)
	for i := range 50 {
		if r := s.Get(source(fmt.Sprint("t", i), "tenant", "1", func() (string, error) { began <- true; <-done; return "late", nil })); r.Has {
			t.Fatal("it has a value")
		}
	}
	good := source("g", "other", "1", func() (string, error) { return "good", nil })
	for s.Get(good); !s.Get(good).Has; {
		time.Sleep(time.Millisecond)
	}
	if n := len(began); n > 2 {
		t.Errorf("%d sources of one group are read at once", n)
	}
	close(done)
	s.Wait()
	if len(began) != 50 {
		t.Errorf("%d were read in the end", len(began))
	}
}

// What failed is read again later and later; meanwhile the last value counts.
func TestFailing(t *testing.T) {
	clock := &fairlead.ManualClock{}
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s := sources(clock)
	tries, fail := 0, false
	from := source("a", "g", "1", func() (string, error) {
		tries++
		if fail {
			return "", errors.New("down")
		}
		return "first", nil
	})
	from.Every = time.Hour
	s.Get(from)
	s.Wait()
	began := clock.Now()
	fail = true
	for range 600 {
		clock.Advance(10 * time.Second)
		s.Get(from)
		s.Wait()
	}
	r := s.Get(from)
	if !r.Has || r.Value != "first" || r.Err == nil || !r.At.Equal(began) {
		t.Errorf("%+v", r)
	}
	if tries < 6 || tries > 15 {
		t.Errorf("%d attempts in 40 minutes", tries-1)
	}
	from.Form = "2"
	if r := s.Get(from); r.Has {
		t.Errorf("another form has the old value: %+v", r)
	}
	s.Wait()
}

func TestBudget(t *testing.T) {
	s := sources(&fairlead.ManualClock{})
	six := func() (string, error) { return "123456", nil }
	for _, key := range []string{"a", "b"} {
		s.Get(source(key, "small", "1", six))
		s.Wait()
	}
	if r := s.Get(source("b", "small", "1", six)); r.Has || r.Err == nil || !strings.Contains(r.Err.Error(), "10 bytes") {
		t.Errorf("%+v", r)
	}
	s.Keep(func(key string) bool { return key != "a" })
	s.Get(source("b", "small", "2", six))
	s.Wait()
	if r := s.Get(source("b", "small", "2", six)); !r.Has {
		t.Errorf("%+v", r)
	}
}
