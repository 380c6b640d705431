package fleet

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/words"
)

// some lists the first few names.
func some(names []string) string { return words.List(names, "and", 3) }

// String says what is due, in one line.
func (c *Choice) String() string {
	var begin, under []string
	for _, t := range c.Go {
		if t.Status == ToApply {
			begin = append(begin, t.Cluster)
		} else {
			under = append(under, t.Cluster)
		}
	}
	text := "nothing starts now"
	if len(begin) > 0 {
		text = fmt.Sprintf("start %s", some(begin))
	}
	if len(under) > 0 {
		text += fmt.Sprintf("; under way or soaking: %s", some(under))
	}
	if c.Stopped {
		text += fmt.Sprintf("; stopped: %s failed, and at most %d may fail", some(c.failed), c.tolerate)
	}
	return text
}
