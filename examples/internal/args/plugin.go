package args

import (
	"path/filepath"
	"strings"
)

// Called names a program after the file that was called: one named after another program, such as
// kubectl-fairlead, is a plugin of that program, which people call as kubectl fairlead. Its examples
// say so too.
func (c *Command) Called(file string) {
	host, found := strings.CutSuffix(strings.TrimSuffix(filepath.Base(file), ".exe"), "-"+c.Name)
	if !found || host != "kubectl" && host != "oc" {
		return
	}
	name := host + " " + c.Name
	c.examples(c.Name+" ", name+" ")
	c.Name = name
}

// examples replaces what begins commands in the examples.
func (c *Command) examples(old, name string) {
	var lines []string
	for line := range strings.Lines(c.Examples) {
		before, last := "", strings.TrimSpace(line)
		if i := strings.LastIndex(last, "| "); i >= 0 {
			before, last = last[:i+2], last[i+2:]
		}
		if strings.HasPrefix(last, old) {
			last = name + strings.TrimPrefix(last, old)
		}
		lines = append(lines, before+last)
	}
	c.Examples = strings.Join(lines, "\n")
	for _, sub := range c.Commands {
		sub.examples(old, name)
	}
}
