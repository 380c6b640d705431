package fbc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/archive"
	"github.com/fairlead/fairlead/internal/shell"
)

// fromGit opens a directory in two revisions of the repository that it is in: BASE..HEAD,
// where HEAD is the default, or BASE...HEAD for the commit that both come from.
func (g *gate) fromGit(revisions, dir string) (before, after side, err error) {
	base, head, ok := strings.Cut(revisions, "..")
	if !ok || base == "" {
		return before, after, &args.UsageError{Text: fmt.Sprintf("-git %s: write BASE..HEAD", revisions)}
	}
	common := strings.HasPrefix(head, ".")
	if head = strings.TrimPrefix(head, "."); head == "" {
		head = "HEAD"
	}
	repository := &gitIn{gate: g, dir: nearest(dir)}
	if common {
		out, err := repository.run("merge-base", "--end-of-options", base, head)
		if err != nil {
			return before, after, err
		}
		base = strings.TrimSpace(string(out))
	}
	within, err := repository.path(dir)
	if err != nil {
		return before, after, err
	}
	top := &gitIn{gate: g, dir: repository.top} // git archive keeps to the directory that it runs in
	open := func(revision string) side {
		s := side{name: revision + ":" + within, at: g.placer(*g.root, dir)}
		if _, err := os.Stat(dir); err != nil { // not checked out here: the place in the repository
			s.at = func(file string) string { return strings.TrimPrefix(within+"/"+file, "./") }
		}
		files, err := top.tree(revision, within, dir)
		if s.err = err; err == nil {
			s.FS = files
		}
		return s
	}
	before, after = open(base), open(head)
	return before, after, after.err
}

// nearest returns the nearest directory that exists: a catalog may be in one revision only.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// gitIn runs git in a directory.
type gitIn struct {
	*gate
	dir string
	top string // of the repository, once path was called
}

func (g *gitIn) run(words ...string) ([]byte, error) {
	cmd := exec.CommandContext(g.Context, "git", append([]string{"-C", g.dir}, words...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(errs.String()); text != "" {
			err = errors.New(text)
		}
		return nil, fmt.Errorf("git %s: %w", words[0], err)
	}
	return out, nil
}

// path returns where a directory is in the repository, "." for its root.
func (g *gitIn) path(dir string) (string, error) {
	out, err := g.run("rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	top, err := filepath.EvalSymlinks(strings.TrimRight(string(out), "\r\n"))
	if err != nil {
		return "", err
	}
	g.top = top
	absolute, err := filepath.Abs(g.dir)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", err
	}
	rest, err := filepath.Rel(g.dir, dir)
	if err != nil {
		return "", err
	}
	within, err := filepath.Rel(top, filepath.Join(absolute, rest))
	if err != nil || !filepath.IsLocal(within) {
		return "", fmt.Errorf("%s is not in the repository %s", dir, top)
	}
	return filepath.ToSlash(within), nil
}

// tree returns the files of a directory in a revision; dir is how the user names it.
func (g *gitIn) tree(revision, within, dir string) (*archive.FS, error) {
	out, err := g.run("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		if shallow, _ := g.run("rev-parse", "--is-shallow-repository"); strings.TrimSpace(string(shallow)) == "true" {
			return nil, fmt.Errorf("there is no revision %s in this clone, which is shallow: fetch the whole history first (git fetch --unshallow; fetch-depth: 0 in a workflow)", revision)
		}
		return nil, fmt.Errorf("there is no revision %s", revision)
	}
	tree := strings.TrimSpace(string(out)) + ":"
	if within != "." {
		tree += within
	}
	if _, err := g.run("rev-parse", "--verify", "--quiet", "--end-of-options", tree); err != nil {
		return nil, fmt.Errorf("revision %s has no directory %s; if the catalog is new, nobody has it yet, and %s is enough; if it was elsewhere, compare both with catalog release OLD NEW",
			revision, within, shell.Command("fairlead catalog validate -- %s", dir))
	}
	packed, err := g.run("archive", "--format=tar", tree)
	if err != nil {
		return nil, fmt.Errorf("revision %s: directory %s: %w", revision, within, err)
	}
	return archive.Read(g.Context, bytes.NewReader(packed), nil)
}
