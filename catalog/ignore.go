package catalog

import (
	"io"
	"io/fs"
	"path"
	"strings"
)

// ignoreName is the name of the files that exclude files from a catalog.
const ignoreName = ".indexignore"

const (
	maxIgnoreSize  = 1 << 20 // bytes of one .indexignore file
	maxIgnoreRules = 10_000  // rules in a catalog
)

// IgnoreRule is a line of an .indexignore file.
type IgnoreRule struct {
	Pos     Position // where it is
	Pattern string   // the line as it is written
	Include bool     // the line starts with "!": what it matches is part of the catalog
}

// rule is an IgnoreRule made ready for matching.
type rule struct {
	IgnoreRule
	segments []string // of the path from the file's directory
	name     bool     // matches the last element of a path, at any depth
	dirs     bool     // matches directories only
	order    int64    // a rule overrides those of lower order
}

// rules are the .indexignore files of a catalog.
//
// They follow gitignore(5), down to escapes: a pattern without a slash matches names at
// any depth, one with a slash paths from its file's directory; a slash at the end
// restricts it to directories; "**" is any number of directories; "!" includes again.
// The last matching line wins, and a file in a deeper directory overrides those above.
// What no rule matches is treated like its directory. Unlike in git, a "!" rule also
// includes what lies in an excluded directory, if it overrides the rule that excludes
// the directory.
type rules struct {
	byDir map[string][]rule // as written
	count int
	takes bool // some rule starts with "!"
}

// read adds the rules of the .indexignore file in dir.
func (rs *rules) read(fsys fs.FS, dir string) *Diagnostic {
	name := path.Join(dir, ignoreName)
	file, err := fsys.Open(name)
	if err != nil {
		return readFault(name, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxIgnoreSize+1))
	if err != nil {
		return readFault(name, err)
	}
	if len(text) > maxIgnoreSize {
		return limitFault(name, "size of an .indexignore file in bytes", maxIgnoreSize)
	}
	depth := 0
	if dir != "." {
		depth = 1 + strings.Count(dir, "/")
	}
	line := 0
	for l := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		line++
		r, ok := parseRule(l)
		if !ok {
			continue
		}
		if rs.count++; rs.count > maxIgnoreRules {
			return limitFault(name, "number of rules in .indexignore files", maxIgnoreRules)
		}
		r.Pos = Position{File: name, Line: line, Column: 1}
		r.order = int64(depth)<<32 | int64(line)
		rs.takes = rs.takes || r.Include
		if rs.byDir == nil {
			rs.byDir = make(map[string][]rule)
		}
		rs.byDir[dir] = append(rs.byDir[dir], r)
	}
	return nil
}

func limitFault(file, what string, limit int64) *Diagnostic {
	err := &LimitError{What: what, Max: limit}
	return &Diagnostic{Pos: Position{File: file}, Code: CodeLimit, Message: err.Error(), Err: err}
}

// parseRule reads a line of an .indexignore file. White space around it does
// not count; an escaped blank at the end does.
func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t")
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	trimmed := strings.TrimRight(line, " \t")
	if rest := line[len(trimmed):]; rest != "" && escapes(trimmed)%2 == 1 {
		trimmed += rest[:1]
	}
	r.Pattern = trimmed
	pattern, found := strings.CutPrefix(trimmed, "!")
	r.Include = found
	pattern, r.dirs = strings.CutSuffix(pattern, "/")
	if pattern == "" {
		return r, false
	}
	r.name = !strings.Contains(pattern, "/")
	r.segments = strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	return r, true
}

// escapes counts the backslashes at the end of text.
func escapes(text string) int { return len(text) - len(strings.TrimRight(text, `\`)) }

// matches reports whether the rule matches the path below the rule's file.
func (r *rule) matches(below []string, dir bool) bool {
	if r.dirs && !dir {
		return false
	}
	if r.name {
		return matchSegment(r.segments[0], below[len(below)-1])
	}
	return matchPath(r.segments, below)
}

// own returns the last rule, in order of precedence, that matches the path itself.
func (rs *rules) own(name string, dir bool) *rule {
	segments := strings.Split(name, "/")
	for depth := len(segments) - 1; depth >= 0; depth-- {
		list := rs.byDir["."]
		if depth > 0 {
			list = rs.byDir[strings.Join(segments[:depth], "/")]
		}
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].matches(segments[depth:], dir) {
				return &list[i]
			}
		}
	}
	return nil
}

// decide returns the rule that decides on the path, given the one that decided on its
// directory. Nil, or a rule that includes, means that it is part of the catalog.
func (rs *rules) decide(name string, dir bool, above *rule) *rule {
	if rs.count == 0 {
		return nil
	}
	own := rs.own(name, dir)
	switch {
	case own == nil:
		return above
	case above.excludes() && own.Include && own.order < above.order:
		return above
	}
	return own
}

// excludes reports whether what the rule decides on is not part of the
// catalog.
func (r *rule) excludes() bool { return r != nil && !r.Include }

// Explain returns the rule of an .indexignore file that decides whether the file at the
// slash-separated path is part of the catalog, or false if no rule does; the file is
// then part of it. A path that ends in a slash is a directory; its rule applies to
// everything in it that no other rule matches.
func (c *Catalog) Explain(name string) (IgnoreRule, bool) {
	name, dir := strings.CutSuffix(name, "/")
	var decided *rule
	for i, r := range name {
		if r == '/' {
			decided = c.rules.decide(name[:i], true, decided)
		}
	}
	decided = c.rules.decide(name, dir, decided)
	if decided == nil {
		return IgnoreRule{}, false
	}
	return decided.IgnoreRule, true
}
