// Package args reads command lines on which flags may stand before or after
// other arguments.
package args

import "flag"

// Parse parses all of args with flags, and returns what is not a flag, in order.
// What follows the argument "--" is not a flag. The error is that of flags.
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
