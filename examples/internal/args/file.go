package args

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// File is a program that does one thing with one file, of which T is what it
// holds.
type File[T any] struct {
	Name  string // of the program, before its complaints
	Usage string // one line, which -h prints
	// Flags declares the flags.
	Flags func(*flag.FlagSet)
	// Read reads the file. Its errors are printed with the file's name.
	Read func(io.Reader) (T, error)
	// Do does the work and returns the exit status.
	Do func(ctx context.Context, stdout io.Writer, held T) (int, error)
}

// Run is the program but for the process around it; it returns the exit status.
func (p *File[T]) Run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	status, err := p.run(ctx, arguments, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return StatusBad
	}
	return status
}

func (p *File[T]) run(ctx context.Context, arguments []string, stdout io.Writer) (int, error) {
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	p.Flags(flags)
	files, err := Parse(flags, arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = fmt.Fprintln(stdout, p.Usage)
		return StatusFine, err
	case err != nil:
		return 0, err
	case len(files) != 1:
		return 0, errors.New("name one file (-h shows the usage)")
	}
	f, err := os.Open(files[0])
	if err != nil {
		return 0, err
	}
	defer f.Close()
	held, err := p.Read(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", files[0], err)
	}
	return p.Do(ctx, stdout, held)
}
