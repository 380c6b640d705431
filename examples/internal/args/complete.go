package args

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// errDeclared ends a call that only has to declare its flags.
var errDeclared = errors.New("the flags are declared")

// Candidates returns the completions of the last word of a command line, in order:
// commands, flags, values of flags with few values, and what Complete of the command
// returns. No candidate means that the word may be a file, or anything.
func (c *Command) Candidates(ctx context.Context, line []string) []string {
	if len(line) == 0 {
		line = []string{""}
	}
	before, last := line[:len(line)-1], line[len(line)-1]
	for len(c.Commands) > 0 {
		if len(before) == 0 {
			var names []string
			for _, sub := range c.Commands {
				names = append(names, sub.Name)
			}
			return beginning(names, last)
		}
		if c = c.command(before[0]); c == nil {
			return nil
		}
		before = before[1:]
	}
	call := &Call{
		Context: ctx, Flags: flag.NewFlagSet(c.Name, flag.ContinueOnError), Args: before,
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, declare: true,
	}
	call.Flags.SetOutput(io.Discard)
	if !errors.Is(c.Run(call), errDeclared) {
		return nil
	}
	if n := len(before); n > 0 && strings.HasPrefix(before[n-1], "-") {
		name := strings.TrimLeft(before[n-1], "-")
		if f := call.Flags.Lookup(name); f != nil && !isBool(f) {
			return call.values(name, before[:n-1], last)
		}
	}
	if strings.HasPrefix(last, "-") {
		var names []string
		call.Flags.VisitAll(func(f *flag.Flag) { names = append(names, "-"+f.Name) })
		return beginning(names, strings.Replace(last, "--", "-", 1))
	}
	if c.Complete == nil {
		return nil
	}
	rest, err := Parse(call.Flags, before)
	if err != nil {
		return nil
	}
	call.Args = rest
	return beginning(slices.DeleteFunc(c.Complete(call), needsQuotes), last)
}

// values returns the completions of the value of a flag.
func (c *Call) values(name string, before []string, last string) []string {
	offer := c.offers[name]
	if offer == nil {
		return beginning(c.choices[name], last)
	}
	rest, err := Parse(c.Flags, before)
	if err != nil {
		return nil
	}
	c.Args = rest
	return beginning(slices.DeleteFunc(offer(c), needsQuotes), last)
}

// needsQuotes reports whether a name cannot be put into a command line as it is. Shells insert
// what they are offered unquoted, so such a name, which somebody else chose, is not offered.
func needsQuotes(name string) bool {
	return shell.Quote(name) != name || strings.HasPrefix(name, "-")
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// beginning returns the names that begin so.
func beginning(names []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// completeWord is the hidden command that the shell scripts call.
const completeWord = "__complete"

// WithCompletion makes a command a program, as Program does, with shell completion:
// it adds the command completion, which prints the script that enables completion in
// a shell.
func (c *Command) WithCompletion() Program {
	run := c.Program(c.Name)
	c.Commands = append(c.Commands, &Command{
		Name: "completion", Usage: "bash|zsh|fish|kubectl", About: "print a shell script that completes commands, flags, and names in catalogs and dumps",
		Help: "bash:     source <(" + c.Name + " completion bash)\n" +
			"zsh:      source <(" + c.Name + " completion zsh)\n" +
			"fish:     " + c.Name + " completion fish | source\n" +
			"kubectl:  " + c.Name + " completion kubectl >kubectl_complete-fairlead, executable and in the PATH, for the plugin of kubectl",
		Complete: func(*Call) []string { return []string{"bash", "fish", "kubectl", "zsh"} },
		Run: func(call *Call) error {
			if err := call.Parse(1, 1); err != nil {
				return err
			}
			script, ok := shells[call.Arg(0)]
			if !ok {
				return &UsageError{fmt.Sprintf("there is no completion for %q; choose bash, zsh, fish or kubectl", call.Arg(0))}
			}
			_, err := io.WriteString(call.Stdout, strings.ReplaceAll(script, "NAME", strings.ReplaceAll(c.Name, " ", "-")))
			return err
		},
	})
	return func(ctx context.Context, line []string, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(line) == 0 || line[0] != completeWord {
			return run(ctx, line, stdin, stdout, stderr)
		}
		for _, word := range c.Candidates(ctx, line[1:]) {
			words.Fprintf(stdout, "%s\n", word)
		}
		return StatusFine
	}
}

// shells are the scripts by shell; NAME is replaced by the name of the program's file. If the
// program has no candidate, files are offered. kubectl completes what follows the name of a plugin by a
// program of its own, whose last line says that files are offered.
var shells = map[string]string{
	"bash": `_NAME() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(NAME __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _NAME NAME
`,
	"zsh": `_NAME() {
  local -a found
  found=("${(@f)$(NAME __complete "${words[@]:1:$((CURRENT-1))}" 2>/dev/null)}")
  if [[ -n "${found[*]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _NAME NAME
`,
	"fish": `function __NAME_complete
  set -l line (commandline -opc) (commandline -ct)
  set -l found (NAME __complete $line[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c NAME -f -a '(__NAME_complete)'
`,
	"kubectl": `#!/bin/sh
kubectl-fairlead __complete "$@" 2>/dev/null
printf ':0\n'
`,
}
