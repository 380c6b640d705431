package semverx

import (
	"fmt"
	"strings"
)

func (p *parser) lint(offset int, format string, args ...any) {
	p.lints = append(p.lints, fmt.Sprintf("at offset %d: ", offset)+fmt.Sprintf(format, args...))
}

func (p *parser) lintDropped(text string, offset int) {
	if text == "-" {
		p.lint(offset, `"-" is dropped: a hyphen makes no range here; write ">=LOW <=HIGH"`)
		return
	}
	p.lint(offset, "%q is dropped, as every single character is", text)
}

func (p *parser) lintWildcard(t token, op, version string) {
	_, known := parseOperator(op)
	parts := strings.Split(version, ".")
	switch {
	case !known:
		p.lint(t.start, "%q before %s is dropped: it is not an operator", op, version)
	case (op == "!" || op == "!=") && parts[len(parts)-1] == "x":
		floor := wildcardFloor(version)
		p.lint(t.start, `%q contradicts itself; write "<%s || >=%s"`, t.text, floor, wildcardCeiling(version, floor))
	case len(parts) == 3 && parts[1] == "x" && parts[2] == "x":
		p.lint(t.start, "%q spans minor 0 only; write %q for all of major %s", t.text, op+parts[0]+".x", parts[0])
	case strings.ContainsAny(version, "-+"):
		p.lint(t.start, "the letter x in %q is read as a wildcard, so that .x stands for .0", t.text)
	}
}
