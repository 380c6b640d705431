// Package args parses command lines on which flags may appear before or after
// other arguments.
package args

import "flag"

// Parse parses all of args with flags, and returns the other arguments in order.
// Nothing after the argument "--" is a flag. The error is that of flags.
func Parse(flags *flag.FlagSet, args []string) (rest []string, err error) {
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
