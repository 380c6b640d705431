package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
)

// What a catalog service sends is a catalog in one file.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	lines := `{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.package","name":"prometheus","defaultChannel":"beta"}
`
	path := filepath.Join(dir, "all.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		fmt.Println(err)
		return
	}

	src, err := source.Open(context.Background(), path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	c, err := catalog.Open(context.Background(), src, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range c.Packages() {
		fmt.Println(p.Name(), p.DefaultChannel())
	}

	// Output:
	// etcd stable
	// prometheus beta
}

// Unpacking stays within limits, and leaves nothing behind.
func ExampleOpen_limits() {
	_, err := source.Open(context.Background(), "no such place", &source.Options{MaxSize: 1 << 30, MaxFiles: 10_000})
	fmt.Println(err)

	// Output:
	// catalog no such place: no such file or directory
}
