package arch

import (
	"fmt"
	"path"
	"strings"
)

// Module is one go.mod file, reduced to what the rules check.
type Module struct {
	Path       string      // slash-separated, below the root
	Directives []Directive // in the order of the file
}

// Directive is one line of a go.mod file, with blocks split up.
type Directive struct {
	Line    int      // from 1
	Verb    string   // go, require, replace, …
	Args    []string // the words after the verb
	Comment string   // the text after the slashes, trimmed
}

// parseModule reads the lines of a go.mod file. It leaves it to the go command
// to reject invalid files.
func parseModule(name, text string) *Module {
	m := &Module{Path: name}
	block := ""
	line := 0
	for raw := range strings.Lines(text) {
		line++
		code, comment, _ := strings.Cut(raw, "//")
		words := strings.Fields(code)
		if len(words) == 0 {
			continue
		}
		if block != "" {
			if words[0] == ")" {
				block = ""
				continue
			}
			words = append([]string{block}, words...)
		} else if len(words) > 1 && words[1] == "(" {
			block = words[0]
			continue
		}
		m.Directives = append(m.Directives, Directive{line, words[0], words[1:], strings.TrimSpace(comment)})
	}
	return m
}

// requirements checks that the root module directly requires its five
// dependencies at their exact versions and nothing else, and has no replace,
// exclude or tool lines, which have no effect in modules that require it.
func requirements(t *Tree) []Finding {
	var found []Finding
	for _, m := range t.Mods {
		if m.Path != "go.mod" {
			continue
		}
		missing := map[string]dependency{}
		for _, d := range dependencies {
			missing[d.path] = d
		}
		report := func(line int, format string, args ...any) {
			found = append(found, Finding{m.Path, line, fmt.Sprintf(format, args...)})
		}
		for _, dir := range m.Directives {
			switch dir.Verb {
			case "module", "go", "toolchain":
			case "require":
				if dir.Comment == "indirect" {
					continue
				}
				d, ok := missing[dir.Args[0]]
				delete(missing, d.path)
				switch {
				case !ok:
					report(dir.Line, "requires %s directly: the module has five direct requirements and accepts no others", dir.Args[0])
				case dir.Args[1] != d.version:
					report(dir.Line, "requires %s %s: it is pinned to %s, and newer versions of some are not available", d.path, dir.Args[1], d.version)
				}
			default:
				report(dir.Line, "has a %s line: it would apply here, but not in modules that require this one", dir.Verb)
			}
		}
		for _, d := range dependencies {
			if _, ok := missing[d.path]; ok {
				report(0, "does not require %s %s directly: restore it, or change the design first", d.path, d.version)
			}
		}
	}
	return found
}

// goLine checks that every module of the tree states the same Go version,
// except those in goVersions, and no toolchain.
func goLine(t *Tree) []Finding {
	var found []Finding
	for _, m := range t.Mods {
		want, ok := goVersions[path.Dir(m.Path)]
		if !ok {
			want = goVersion
		}
		got := ""
		for _, dir := range m.Directives {
			switch dir.Verb {
			case "go":
				got = dir.Args[0]
			case "toolchain":
				found = append(found, Finding{m.Path, dir.Line, "has a toolchain line: remove it, users choose their own"})
			}
		}
		if got != want {
			found = append(found, Finding{m.Path, 0, fmt.Sprintf("says go %q: write go %s manually, because the version that the go command writes would force its patch release on users", got, want)})
		}
	}
	return found
}
