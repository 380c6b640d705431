// Package markdown writes text that others wrote into Markdown pages, such as comments on pull
// requests, where it is shown and nothing else: no heading, link, picture, mention or HTML.
package markdown

import (
	"regexp"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// special are the characters that can begin something; escaped, they are text.
var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "{", `\{`, "}", `\}`, "[", `\[`, "]", `\]`, "<", `\<`, "|", `\|`, "~", `\~`, "!", `\!`, "&", `\&`, "$", `\$`, "^", `\^`,
)

// leading matches what begins a heading, a quotation or a list in the beginning of a paragraph.
var leading = regexp.MustCompile(`^(\s*)([#>+=-])|^(\s*\d+)([.)])`)

// linked matches what code hosts make links or mentions of, escaped or not.
var linked = regexp.MustCompile(`(?i)[@#]|://|\bwww\.|[\w.]@|\b[0-9a-f]{7,40}\b|mailto:|xmpp:`)

// Text returns text for the inside of a paragraph or list item. If a code host would make a link
// or a mention of a part, all of it becomes code.
func Text(s string) string {
	if linked.MatchString(s) {
		return Code(s)
	}
	return leading.ReplaceAllString(special.Replace(words.VisibleLine(s)), `$1$3\$2$4`)
}

// Code returns text as code within a line.
func Code(s string) string {
	s = words.VisibleLine(s)
	ticks := strings.Repeat("`", longest(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.TrimSpace(s) == "" {
		s = " " + s + " " // one space on either side is not shown
	}
	return ticks + s + ticks
}

// Fence returns what opens and closes text as a block of code: longer than any fence inside. Write
// the text itself with [words.Visible].
func Fence(text string) string { return strings.Repeat("`", max(3, longest(text)+1)) }

// longest returns the length of the longest run of backticks.
func longest(s string) int {
	most, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}
