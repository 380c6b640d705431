package arch

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// How large a file and a function may grow, in lines. Generated code may be
// larger, and so may the functions of tests.
const (
	maxFileLines     = 500
	maxFunctionLines = 70
)

// fileSize checks that files stay small: a file covers one idea.
func fileSize(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if !f.Generated && f.Lines > maxFileLines {
			found = append(found, Finding{f.Path, 0, fmt.Sprintf("has %d lines, more than %d: split it by idea", f.Lines, maxFileLines)})
		}
	}
	return found
}

// functionSize checks that functions fit on a screen.
func functionSize(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.Generated || f.Test {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			name := "function literal"
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.FuncLit:
			default:
				return true
			}
			if lines := t.fset.Position(n.End()).Line - t.line(n) + 1; lines > maxFunctionLines {
				found = append(found, t.at(f, n, "%s has %d lines, more than %d: split it into smaller functions", name, lines, maxFunctionLines))
			}
			return true
		})
	}
	return found
}

// emptyNames are package names that say where code was put, not what it is.
var emptyNames = []string{
	"base", "common", "helper", "helpers", "lib", "misc", "shared", "tools", "type", "types", "util", "utils",
}

// packageName checks that packages are named for what they provide.
func packageName(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		name := strings.TrimSuffix(f.AST.Name.Name, "_test")
		if slices.Contains(emptyNames, name) || slices.Contains(emptyNames, path.Base(f.Dir)) {
			found = append(found, Finding{f.Path, 0, fmt.Sprintf("package %s in %s: name it for what it provides", name, f.Dir)})
		}
	}
	return found
}

// The words are split so that this file does not contain them.
var unfinishedWords = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

// unfinished checks that the project's texts leave nothing for later.
func unfinished(t *Tree) []Finding {
	return grep(t, unfinishedWords, nil, func(name string) bool { return !inTestdata(name) },
		"contains %s: do it, or describe what the code does and why")
}

// machinePaths matches paths that exist only on someone's machine.
var machinePaths = regexp.MustCompile(`(?:^|[^\w./>-])(/(?:home|root|work|Users)/[\w.-]+)`)

// machinePath checks that no file names a path on the machine where it was
// written, except the scripts that test this rule.
func machinePath(t *Tree) []Finding {
	return grep(t, machinePaths, nil, func(name string) bool { return !strings.HasPrefix(name, "internal/arch/testdata/") },
		"names %s, a path on one machine: use a relative path or an environment variable")
}

// oddWords are expressions that read as if translated, each with a plainer one to
// use instead. Every text that matches contains holds, which is faster to search
// for.
var oddWords = []struct {
	expr          *regexp.Regexp
	holds, better string
}{
	{regexp.MustCompile(`\b(anew)\b`), "anew", "again"},
	{regexp.MustCompile(`\b(mend(?:s|ed|ing)?)\b`), "mend", "fix"},
	{regexp.MustCompile(`\b(life signs?|signs? of life)\b`), "life", "heartbeat"},
	{regexp.MustCompile(`\b(stopped to report)\b`), "stopped to", "stopped reporting"},
	{regexp.MustCompile(`\b(put right)\b`), "put right", "corrected"},
	{regexp.MustCompile(`\b(as they shall be)\b`), "shall", "as they should be"},
	{regexp.MustCompile(`\b(what the message says)\b`), "what the message", "what to do"},
	{regexp.MustCompile(`\b(for ever)\b`), "for ever", "forever, or no limit"},
	{regexp.MustCompile(`\b(heeds?)\b`), "heed", "respect"},
	{regexp.MustCompile(`\b(times that double)\b`), "times that", "exponential backoff"},
	{regexp.MustCompile(`\b(lets? (?:none|no pods?) go)\b`), " go", "allows no eviction"},
	{regexp.MustCompile(`\b(is asked of)\b`), "asked of", "the desired state, or the request"},
	{regexp.MustCompile(`\b(what else all objects have)\b`), "what else", "the other metadata"},
	{regexp.MustCompile(`\b(mean the zero ones)\b`), "zero ones", "mean the defaults"},
	{regexp.MustCompile(`\b(the Step before)\b`), "Step before", "the previous Step"},
	{regexp.MustCompile(`\b(where to read on)\b`), "to read on", "see, with a link"},
	{regexp.MustCompile(`\b(as the message says)\b`), "as the message", "what to do"},
	{regexp.MustCompile(`\b([^ \n]*[^eE \n] is no (?:version|semantic version|range|release|number|name|digest|flag|directory|object))\b`), " is no ", "is not a version, and so on"},
}

// plainWords checks that Go and Markdown files are plain English. It skips
// testdata, which may quote other projects, this package, which lists the words,
// and the changelog.
func plainWords(t *Tree) []Finding {
	ours := func(name string) bool {
		return !inTestdata(name) && !strings.HasPrefix(name, "internal/arch/") && (strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".md")) && name != "CHANGELOG.md"
	}
	var found []Finding
	for _, w := range oddWords {
		found = append(found, grep(t, w.expr, []string{w.holds}, ours, "says %q: plainer is "+w.better)...)
	}
	return found
}

// otherDomains matches what would be our annotations, labels, finalizers and
// API groups under any domain but fairlead.io itself.
var otherDomains = regexp.MustCompile(`\b((?:[a-z0-9-]+\.)*fairlead\.(?:com|dev|github\.io|net|org)|(?:[a-z0-9-]+\.)+fairlead\.io/[a-z])`)

// oneDomain checks that everything we name in the API of a cluster is under one
// domain. The names of CRDs, which begin with what they define, contain no slash
// and so do not match.
func oneDomain(t *Tree) []Finding {
	return grep(t, otherDomains, []string{"fairlead.com", "fairlead.dev", "fairlead.github.io", "fairlead.net", "fairlead.org", ".fairlead.io/"}, func(name string) bool { return !strings.HasPrefix(name, "internal/arch/") },
		"contains %s: annotations, labels, finalizers and API groups must be under fairlead.io")
}

// grep finds the places in the chosen text files that match. Unless holds is nil,
// every match contains one of its strings, and files without them are skipped. The
// format's argument is the first group that the expression captures.
func grep(t *Tree, expr *regexp.Regexp, holds []string, chosen func(name string) bool, format string) []Finding {
	var found []Finding
	for _, text := range t.Text {
		if !chosen(text.Path) || holds != nil && !slices.ContainsFunc(holds, func(s string) bool { return strings.Contains(text.Data, s) }) {
			continue
		}
		for _, at := range expr.FindAllStringSubmatchIndex(text.Data, -1) {
			line := 1 + strings.Count(text.Data[:at[2]], "\n")
			found = append(found, Finding{text.Path, line, fmt.Sprintf(format, text.Data[at[2]:at[3]])})
		}
	}
	return found
}
