package words_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/words"
)

func TestWords(t *testing.T) {
	abc := []string{"a", "b", "c"}
	for _, c := range [][2]string{
		{words.Count(0, "node", "nodes"), "0 nodes"},
		{words.Count(1, "node waits", "nodes wait"), "1 node waits"},
		{words.Count(2, "node waits", "nodes wait"), "2 nodes wait"},
		{words.Plural(1, "is", "are"), "is"},
		{words.Plural(-1, "is", "are"), "are"},
		{words.Clip("häfen", 6), "häfen"},
		{words.Clip("häfen", 5), "häfe..."},
		{words.Clip("häfen", 2), "h..."}, // not half a letter
		{words.Clip("häfen", -1), "..."},
		{words.Clip("a\xffbc", 3), "ab..."},
		{words.Shorten("häfen", 5), "häfen"},
		{words.Shorten("häfen", 4), "häf…"},
		{words.List(nil, "or", 3), ""},
		{words.List(abc[:1], "or", 3), "a"},
		{words.List(abc[:2], "or", 3), "a or b"},
		{words.List(abc, "and", 3), "a, b and c"},
		{words.List(abc, "and", 2), "a, b and c"}, // a name is as short as "1 more"
		{words.List(abc, "and", 1), "a and 2 more"},
		{words.First(nil, 2), ""},
		{words.First(abc, 3), "a, b, c"},
		{words.First(abc, 2), "a, b and 1 more"},
		{words.Field("", "spec"), "spec"},
		{words.Field("spec", "taints"), "spec.taints"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}
