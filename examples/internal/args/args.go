// Package args parses command lines on which flags may appear before or after
// other arguments.
package args

import (
	"flag"
	"slices"
	"strings"
)

// Parse parses all of args with flags, and returns the other arguments in order.
// Nothing after the argument "--" is a flag. The error is that of flags. The flag -o
// may be written as in other tools: --output json, --output=json, -ojson.
func Parse(flags *flag.FlagSet, args []string) (rest []string, err error) {
	args = outputs(flags, args)
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		left := flags.Args()
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" || len(left) == 0 {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// outputs writes the flag -o as flags knows it, if it does not know the other spelling.
func outputs(flags *flag.FlagSet, args []string) []string {
	if flags.Lookup("o") == nil {
		return args
	}
	args = slices.Clone(args)
	for i := 0; i < len(args); i++ {
		name, _, _ := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch {
		case args[i] == "--":
			return args
		case !strings.HasPrefix(args[i], "-"):
		case flags.Lookup(name) != nil:
			if f := flags.Lookup(name); !strings.Contains(args[i], "=") && !isBool(f) {
				i++ // its value
			}
		case name == "output":
			args[i] = strings.Replace(args[i], "output", "o", 1)
			if !strings.Contains(args[i], "=") {
				i++
			}
		case strings.HasPrefix(args[i], "-o") && len(args[i]) > 2:
			args[i] = "-o=" + args[i][2:]
		}
	}
	return args
}
