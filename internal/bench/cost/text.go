package cost

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Row writes a row of a Markdown table.
func Row(w io.Writer, cells ...string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
}

// Head writes the head of a Markdown table.
func Head(w io.Writer, cells ...string) {
	Row(w, cells...)
	fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(cells)))
}

// Duration formats a duration with three digits and a unit.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g us", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// Size formats a number of bytes with three digits and a unit.
func Size[N int64 | uint64](bytes N) string {
	switch {
	case bytes < 1e6:
		return fmt.Sprintf("%.3g kB", float64(bytes)/1e3)
	case bytes < 1e9:
		return fmt.Sprintf("%.3g MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.3g GB", float64(bytes)/1e9)
}

// Ratio returns how many times b is in a, or "" if there is nothing to compare.
func Ratio[N ~int64 | ~uint64](a, b N) string {
	if a == 0 || b == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(a)/float64(b))
}
