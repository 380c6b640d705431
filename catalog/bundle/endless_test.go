package bundle_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
)

// endless is a bundle of which one file has no end, whatever it says of its size.
type endless struct {
	fstest.MapFS
	name string
}

func (e endless) Open(name string) (fs.File, error) {
	f, err := e.MapFS.Open(name)
	if err != nil || name != e.name {
		return f, err
	}
	return endlessFile{f}, nil
}

type endlessFile struct{ fs.File }

func (endlessFile) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat("a: b\n", 1+len(p)/5)), nil
}

// TestEndless: of a file without end no more is read than a bundle may hold.
func TestEndless(t *testing.T) {
	for _, name := range []string{"manifests/csv.yaml", "metadata/annotations.yaml"} {
		_, err := bundle.Read(context.Background(), endless{pond(t), name}, &bundle.Options{MaxBytes: 1 << 20})
		var limit *catalog.LimitError
		if !errors.As(err, &limit) || limit.Max != 1<<20 || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
