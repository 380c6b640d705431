package semverx

import (
	"fmt"
	"math"
	"strings"
	"unicode"
)

const anyVersion = `write ">=0.0.0-0" for any version`

// hintNothing returns what to write for a range without a comparison.
func hintNothing(text string) string {
	switch {
	case text == "" || text == "*" || text == "x" || text == "X":
		return anyVersion
	case len(text) == 1 && isNumber(text):
		return fmt.Sprintf(`write "%s.x" for all of major %s`, text, text)
	}
	return ""
}

// hint returns what to write for a token that the grammar rejects and that
// other grammars (npm's, Masterminds', pip's) accept; "" if there is no hint.
func hint(text string) string {
	switch {
	case strings.Contains(text, ","):
		return `separate comparisons with a space, not with a comma`
	case strings.Contains(text, "&&"):
		return `separate comparisons with a space, which means "and"`
	case strings.Contains(text, "|"):
		return `write "||" between two spaces`
	case strings.IndexFunc(text, unicode.IsSpace) >= 0:
		return "comparisons are separated by spaces only"
	}
	i := strings.IndexFunc(text, func(r rune) bool { return r >= '0' && r <= '9' })
	if i < 0 {
		return hintNothing(strings.TrimLeft(text, "<>="))
	}
	op, version := text[:i], text[i:]
	if bare := strings.TrimRight(op, "vV"); bare != op {
		return fmt.Sprintf("write %q, without the %s", bare+version, op[len(bare):])
	}
	switch op {
	case "^", "~", "~>":
		return hintSpan(op, version)
	case "=>":
		return fmt.Sprintf("write %q", ">="+version)
	case "=<":
		return fmt.Sprintf("write %q", "<="+version)
	case "===":
		return fmt.Sprintf("write %q", "="+version)
	case "<>", "!==":
		return fmt.Sprintf("write %q", "!="+version)
	}
	return hintVersion(op, version)
}

// hintSpan spells out a caret or tilde range. The upper end is the lowest
// prerelease, so that no prerelease of the next version is included.
func hintSpan(op, version string) string {
	v, err := ParseTolerant(version)
	if err != nil || max(v.major, v.minor, v.patch) == math.MaxUint64 {
		return ""
	}
	components := strings.Count(version, ".") + 1
	var end string
	switch {
	case op == "^" && (v.major > 0 || components == 1), op != "^" && components == 1:
		end = fmt.Sprintf("%d.0.0-0", v.major+1)
	case op == "^" && v.minor == 0 && components > 2:
		end = fmt.Sprintf("0.0.%d-0", v.patch+1)
	default:
		end = fmt.Sprintf("%d.%d.0-0", v.major, v.minor+1)
	}
	return fmt.Sprintf(`write ">=%s <%s"`, v, end)
}

// hintVersion is for an operator of the grammar before a text that is not a
// version.
func hintVersion(op, version string) string {
	numbers := strings.Split(version, ".")
	for i, n := range numbers {
		if n == "*" || n == "X" {
			return fmt.Sprintf("write %q", op+strings.Join(numbers[:i], ".")+".x")
		}
	}
	if strings.Contains(version, "x") {
		return "the letter x is read as a wildcard anywhere in a comparison; elsewhere than at the end only >= and < go with it"
	}
	if _, known := parseOperator(op); !known || len(numbers) > 2 || strings.ContainsAny(version, "-+") || !isNumber(strings.Join(numbers, "")) {
		return ""
	}
	full := version + strings.Repeat(".0", 3-len(numbers))
	if op == "<" || op == ">=" {
		return fmt.Sprintf("write %q", op+full)
	}
	return fmt.Sprintf("write %q, or %q for all that begin so", op+full, op+version+".x")
}
