package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
	"time"
)

// ganttTime is the format in which Mermaid reads instants. It has no zone: ten
// o'clock is drawn as ten o'clock wherever the page is read.
const ganttTime = "2006-01-02T15:04:05"

// WriteMermaid writes the chart as a Mermaid Gantt chart, with a section for
// each row with bars. start is when the chart begins. Mermaid counts in seconds,
// so each bar is at least one second long. Equal charts give equal texts. The
// error is that of w.
func (g *Gantt) WriteMermaid(w io.Writer, start time.Time) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "gantt\n    title %s\n    dateFormat YYYY-MM-DDTHH:mm:ss\n    axisFormat %%H:%%M\n", ganttText(g.Title))
	at := func(d time.Duration) time.Time { return start.Add(d).UTC().Truncate(time.Second) }
	for _, row := range g.Rows {
		if len(row.Bars) == 0 {
			continue
		}
		fmt.Fprintf(out, "    section %s\n", ganttText(row.Label))
		for _, b := range row.Bars {
			from, to := at(b.Start), at(b.End)
			if !to.After(from) {
				to = from.Add(time.Second)
			}
			crit := ""
			if b.Marked {
				crit = "crit, "
			}
			fmt.Fprintf(out, "    %s :%s%s, %s\n", ganttText(b.Label), crit, from.Format(ganttTime), to.Format(ganttTime))
		}
	}
	if len(g.Marks) > 0 {
		fmt.Fprintf(out, "    section marks\n")
	}
	for _, m := range g.Marks {
		fmt.Fprintf(out, "    %s :milestone, %s, 0s\n", ganttText(m.Label), at(m.At).Format(ganttTime))
	}
	return out.Flush()
}

// ganttText returns s without what a name in a Mermaid Gantt chart may not
// contain. It is never empty.
func ganttText(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(":;#,%", r)
	}), " ")
	s = words.Visible(s)
	if s == "" {
		return "-"
	}
	return s
}
