// Package redact is the verb redact: it writes a dump that can be shared.
package redact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
)

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "redact",
		Usage: "[DUMP] -o DIR [-names FILE]",
		About: "write a dump that can be shared: other names and addresses, no secrets, and every verb answers as before",
		Help: `DUMP is a file, a directory or an archive, such as a must-gather, or - for standard input
  -o DIR             the directory to write, which must be empty or not exist
  -names FILE        also write which word became which, for yourself: do not share it
Names, label values, UIDs and addresses become others, the same everywhere and in the same order. Names that
belong to Kubernetes, OpenShift or a published operator stay, and so do the words of messages; look through the
result before you share it. Secrets, annotations of unknown domains, and fields that no verb reads are left out.
exit status: 0 the dump was written, 2 bad input`,
		Examples: `fairlead redact must-gather.local.1 -o shared && tar czf shared.tar.gz shared`,
		Run:      run,
	}
}

func run(c *args.Call) error {
	out, names := c.Flags.String("o", "", ""), c.Flags.String("names", "", "")
	from := reading.Declare(c)
	if err := c.Parse(0, 1); err != nil {
		return err
	}
	if *out == "" {
		return &args.UsageError{Text: "name the directory to write: -o DIR"}
	}
	if there, err := os.ReadDir(*out); err == nil && len(there) > 0 {
		return fmt.Errorf("-o %s: it is not empty; name a new directory", *out)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r, err := snapshot.Redact(func(r *snapshot.Reader) error {
		_, err := from.ReadInto(r, c.Arg(0))
		return err
	})
	if err != nil {
		return err
	}
	c.Doing("writing " + *out)
	for _, f := range r.Files {
		name := filepath.Join(*out, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			return err
		}
	}
	if *names != "" {
		var b strings.Builder
		for _, n := range r.Names {
			fmt.Fprintf(&b, "%s\t%s\n", n[1], n[0])
		}
		if err := os.WriteFile(*names, []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.Stdout, "%s: %s, %s replaced\n", *out, words.Count(len(r.Files), "file", "files"), words.Count(len(r.Names), "word", "words"))
	return nil
}
