package plan

import (
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// WriteScript writes the plan as a script for a POSIX shell. It runs one command after the
// other, and after each asks whether what the plan waits for has come true; with any other
// answer than y it stops. What no command does, such as work for people, it only tells. The
// error is that of w.
func (p *Plan) WriteScript(w io.Writer) error {
	var b strings.Builder
	title, _, _ := strings.Cut(p.String(), "\n")
	fmt.Fprintf(&b, "#!/bin/sh\n# %s\nset -eu\n\n", words.VisibleLine(title))
	b.WriteString("check() {\n\tprintf '   done when: %s\\n   is it? [y] ' \"$1\"\n\tread -r answer\n\t[ \"$answer\" = y ]\n}\n")
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(&b, "\n%s\n", shell.Print(fmt.Sprintf("%d. %s", i+1, s)))
		for _, u := range s.Unseen {
			fmt.Fprintln(&b, shell.Print("   unknown: "+u.What+"; to find out: "+u.Command))
		}
		for _, t := range s.First {
			t.write(&b)
		}
		command(&b, s.Command)
		fmt.Fprintf(&b, "check %s\n", shell.Quote(s.After))
		for _, t := range s.Then {
			t.write(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Task) write(b *strings.Builder) {
	fmt.Fprintln(b, shell.Print("   "+t.What))
	command(b, t.Command)
	if t.After != "" {
		fmt.Fprintf(b, "check %s\n", shell.Quote(t.After))
	}
}

// command writes a command, or tells what people do.
func command(b *strings.Builder, text string) {
	program, _, _ := strings.Cut(text, " ")
	if program == "oc" || program == "curl" || strings.HasPrefix(text, "hash=$(oc ") {
		b.WriteString(text + "\n")
		return
	}
	fmt.Fprintln(b, shell.Print("   to do: "+text))
}
