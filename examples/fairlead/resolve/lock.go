package resolve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/lock"
)

// keepLock verifies the lock file against the answer, or writes it if it is absent
// or must be rewritten. The result is reported on stderr, because stdout has the
// answer.
func (c *command) keepLock(ctx context.Context, r *olm.Resolver, req *olm.Request, res *olm.Resolution, stderr io.Writer) (int, error) {
	now, err := lock.Of(ctx, r, req, res)
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(c.lock)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.writeLock(now, stderr, "written")
	case err != nil:
		return 0, fmt.Errorf("-lock: %w", err)
	}
	held, err := lock.Parse(c.lock, text)
	switch {
	case err != nil && c.relock:
		words.Fprintf(stderr, "%v\n", err)
		return c.writeLock(now, stderr, "rewritten")
	case err != nil:
		return 0, fmt.Errorf("-lock: %w", err)
	}
	differences := held.Diff(now)
	if len(differences) == 0 {
		words.Fprintf(stderr, "lock %s matches\n", c.lock)
		return statusResolved, nil
	}
	if c.relock {
		for _, d := range differences {
			words.Fprintf(stderr, "%v\n", d)
		}
		return c.writeLock(now, stderr, "rewritten")
	}
	words.Fprintf(stderr, "lock %s: %v\n", c.lock, words.Text((&lock.MismatchError{Differences: differences}).Error()))
	return statusNoSolution, nil
}

func (c *command) writeLock(l *lock.Lock, stderr io.Writer, how string) (int, error) {
	if err := os.WriteFile(c.lock, l.Format(), 0o666); err != nil {
		return 0, fmt.Errorf("-lock: %w", err)
	}
	words.Fprintf(stderr, "lock %s %s\n", c.lock, how)
	return statusResolved, nil
}
