// Package shell writes command lines for people to copy. What others wrote, such as the name
// of a node, is one argument of the command, whatever characters it has: it never becomes a
// flag, a second command, or something that a terminal obeys.
//
// Every command that this module prints is made by [Command]; internal/arch looks for others.
package shell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// Line is a command as its author wrote it: words with spaces between them, and %s where a value
// goes. It is a constant, and has a type of its own so that text that was read from somewhere
// does not fit by mistake. Its words are not quoted; [Command] does that.
type Line string

// Command returns a command line from which a POSIX shell makes exactly the words of line, with
// each %s replaced by the next value:
//
//		Command("oc -n %s patch pdb %s --type merge -p %s", "shop", "web", JSON(patch))
//
//	 1. A value is a word or a part of one, as in node/%s and --to=%s. Words are quoted only where
//	    a shell needs it.
//	 2. A value that is a word is an operand, unless it follows the flag -c, -f, -l, -n, -o or -p;
//	    write the values of other flags with "=". If an operand begins with "-", it would be
//	    taken for a flag: then the operands from the first value on are moved to the end, after
//	    "--". A line that has its own "--" gets a second one in front, which programs refuse.
//	 3. Control and invisible characters are shown, as [words.VisibleLine] does, not sent. Such a
//	    command finds nothing, because no object has such a name.
func Command(line Line, values ...string) string {
	fields := strings.Fields(string(line))
	own := slices.Index(fields, "--")
	if own < 0 {
		own = len(fields)
	}
	filled := make([]string, len(fields))
	var options, operands []string // of those before own
	moved := false
	for i, field := range fields {
		filled[i], values = fill(field, values)
		switch {
		case i >= own:
		case operand(fields, i, len(operands) > 0):
			operands = append(operands, filled[i])
			moved = moved || strings.HasPrefix(filled[i], "-")
		default:
			options = append(options, filled[i])
		}
	}
	if moved {
		filled = slices.Concat(options, []string{"--"}, operands, filled[own:])
	}
	for i, word := range filled {
		filled[i] = Quote(word)
	}
	return strings.Join(filled, " ")
}

// operand reports whether the word at i is an operand that may have to move: a value, or a word
// after one.
func operand(fields []string, i int, begun bool) bool {
	before := ""
	if i > 0 {
		before = fields[i-1]
	}
	switch before {
	case "-c", "-f", "-l", "-n", "-o", "-p":
		return false
	}
	if fields[i] == "%s" {
		return true
	}
	flag := strings.HasPrefix(before, "-") && !strings.Contains(before, "=") // this may be its value
	return begun && !strings.HasPrefix(fields[i], "-") && !flag
}

// fill replaces each %s of a word, and returns the values that are left.
func fill(word string, values []string) (filled string, left []string) {
	for {
		before, after, found := strings.Cut(word, "%s")
		filled += before
		if !found {
			return filled, values
		}
		if len(values) == 0 {
			return filled + "%s" + after, nil // a mistake of the author; internal/arch counts
		}
		filled += values[0]
		word, values = after, values[1:]
	}
}

// harmless are the characters that mean nothing to a shell, besides letters and digits. Some mean
// something at the beginning of a word: see [Quote].
const harmless = "%+,-./:@_="

// Quote returns a word for a POSIX shell: as it is if that is safe, otherwise in single quotes.
// Control and invisible characters are shown, not sent.
func Quote(word string) string {
	word = words.VisibleLine(word)
	unsafe := strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(harmless, r))
	})
	if word != "" && word[0] != '=' && !unsafe { // zsh expands =ls
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Print returns a command that prints a text and a line feed. The echo of some shells, such as dash,
// interprets backslashes: a text with \033 would control the terminal, and JSON end early.
func Print(text string) string { return `printf '%s\n' ` + Quote(text) }

// JSON returns a value as an argument in JSON, with the keys of maps in order. The value consists
// of maps, slices, strings, numbers and booleans, which can always be written. Control and
// invisible characters are escaped, so that [Command] has nothing to show.
func JSON(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return "null"
	}
	var text strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case !words.Hidden(r):
			text.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&text, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&text, `\u%04x`, r)
		}
	}
	return text.String()
}
