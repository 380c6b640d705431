package samples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced  = regexp.MustCompile("(?s)```\n(.*?)```")
	callout = regexp.MustCompile(`\s*[①-⑳❶-❿]`)
	trailed = regexp.MustCompile(`(["'>]) \d+$`) // a callout that was printed as a number
	parting = regexp.MustCompile(`(?m)^---\s*$`)
)

// Book returns the examples of the operators' documents, a YAML document each, as far as
// they are some: without callouts, ellipses and the commands around them. The test is
// skipped where the documents, of ../shared/seeds beside the module, are not.
func Book(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), "../shared/seeds/operators-book-*.txt"))
	if err != nil || len(files) == 0 {
		t.Skip("the documents are not here: ../shared/seeds next to the checkout has none")
	}
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
			for _, part := range parting.Split(block[1], -1) {
				found = append(found, cleaned(part))
			}
		}
	}
	return found
}

func cleaned(example string) string {
	var lines []string
	for line := range strings.Lines(example) {
		line = trailed.ReplaceAllString(strings.TrimRight(callout.ReplaceAllString(line, ""), " \n"), "$1")
		if word := strings.TrimSpace(line); word == "..." || word == "EOF" || strings.HasPrefix(word, "$ ") || word == "" {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// root is the directory of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("no directory above has a go.mod: %v", err)
	return ""
}
