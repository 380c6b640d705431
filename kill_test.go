//go:build unix

package fairlead_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
)

// victimDir names the directory that TestFileStoreVictim writes to until it is
// killed.
const victimDir = "FAIRLEAD_TEST_VICTIM_DIR"

// TestFileStoreVictim is the process that TestFileStoreKill kills. It counts in
// several keys at a time, and prints each number once the store has taken it.
func TestFileStoreVictim(t *testing.T) {
	dir := os.Getenv(victimDir)
	if dir == "" {
		t.Skip("runs only as the subprocess of TestFileStoreKill")
	}
	s := openStore(t, dir)
	var group sync.WaitGroup
	for _, key := range victimKeys {
		group.Go(func() {
			for {
				rec, err := s.Get(t.Context(), key)
				if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
					t.Error(err)
					return
				}
				n := countOf(rec) + 1
				value := strings.Repeat(strconv.Itoa(n)+" ", 1000)
				if _, err := s.Put(t.Context(), key, []byte(value), rec.Revision); err != nil {
					t.Error(err)
					return
				}
				fmt.Printf("counted %s %d\n", key, n)
			}
		})
	}
	group.Wait()
}

var victimKeys = []string{"a", "b", "c", "d"}

// countOf returns the number in rec, 0 when there is none, or -1 when it is not
// whole.
func countOf(rec fairlead.Record) int {
	if rec.Revision == "" {
		return 0
	}
	word, _, _ := strings.Cut(string(rec.Value), " ")
	n, err := strconv.Atoi(word)
	if err != nil || string(rec.Value) != strings.Repeat(word+" ", 1000) {
		return -1
	}
	return n
}

// A process that is killed leaves the last value that it was told is durable,
// or the one that it was about to write, and releases the lock.
func TestFileStoreKill(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Skip("cannot start itself: ", err)
	}
	dir := t.TempDir()
	last := map[string]int{}
	for round := range 5 {
		cmd := exec.Command(exe, "-test.run=^TestFileStoreVictim$")
		cmd.Env = append(os.Environ(), victimDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip("cannot start itself: ", err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); {
			var key string
			var count int
			if _, err := fmt.Sscanf(lines.Text(), "counted %s %d", &key, &count); err != nil {
				continue
			}
			last[key] = count
			if n++; n == 10+7*round { // during one of the next writes
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
		s := openStore(t, dir)
		for _, key := range victimKeys {
			rec, err := s.Get(t.Context(), key)
			if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
				t.Fatal(err)
			}
			if n := countOf(rec); n != last[key] && n != last[key]+1 {
				t.Fatalf("round %d: found %s=%d after %d was durable", round, key, n, last[key])
			}
			last[key] = countOf(rec)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if sum := last["a"] + last["b"] + last["c"] + last["d"]; sum < 100 {
		t.Errorf("counted %d only", sum)
	}
}
