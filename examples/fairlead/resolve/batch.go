package resolve

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fairlead/fairlead/solver/olm"
)

// runBatch answers the cases of a file in order, one per line.
func (c *command) runBatch(ctx context.Context, r *olm.Resolver, stdout io.Writer) (int, error) {
	f, err := os.Open(c.batch)
	if err != nil {
		return 0, fmt.Errorf("-batch: %w", err)
	}
	defer f.Close()
	cases, err := plain(f)
	if err != nil {
		return 0, fmt.Errorf("-batch %s: %w", c.batch, err)
	}
	out := bufio.NewWriter(stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	n := 0
	for each, err := range olm.Cases(cases) {
		var answer *olm.Answer
		if err == nil {
			n++
			answer, err = r.Answer(ctx, namespace, each)
		}
		if err == nil {
			err = encoder.Encode(answer)
		}
		if err != nil {
			return 0, errors.Join(out.Flush(), batchError(c.batch, n, err))
		}
		if n%500 == 0 {
			c.doing(fmt.Sprintf("answered %d cases", n))
		}
	}
	return statusResolved, out.Flush()
}

// batchError adds the position in the file to the error of a case.
func batchError(file string, n int, err error) error {
	var malformed *olm.CaseError
	if errors.As(err, &malformed) {
		return fmt.Errorf("%s:%d: %w", file, malformed.Line, malformed.Err)
	}
	return fmt.Errorf("%s: case %d: %w", file, n, err)
}

// plain decompresses input in gzip format.
func plain(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if magic, err := b.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		return gzip.NewReader(b)
	}
	return b, nil
}
