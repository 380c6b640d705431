package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/check"
)

// Names of bundles and channels that no cluster accepts are errors: whatever prints them could
// otherwise print what somebody else wrote.
func TestNames(t *testing.T) {
	validate := func(channel, bundle string) string {
		quoted := func(s string) string { text, _ := json.Marshal(s); return string(text) }
		text := fmt.Sprintf(`{"schema": "olm.package", "name": "shop", "defaultChannel": %[1]s}
{"schema": "olm.channel", "package": "shop", "name": %[1]s, "entries": [{"name": %[2]s}]}
{"schema": "olm.bundle", "package": "shop", "name": %[2]s, "image": "example.com/shop", "properties": [{"type": "olm.package", "value": {"packageName": "shop", "version": "1.0.0"}}]}
`, quoted(channel), quoted(bundle))
		_, report, err := check.Open(t.Context(), fstest.MapFS{"c.json": {Data: []byte(text)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, f := range report.Findings() {
			if f.Code != check.CodeObjectName || strings.ContainsAny(f.Error(), "\n\x1b") {
				t.Errorf("%q, %q: %v", channel, bundle, f)
			}
			codes = append(codes, string(f.Code))
		}
		return strings.Join(codes, " ")
	}
	for _, bundle := range []string{"shop.v2\n```\n\n# Passes", "Shop.v1", "shop v1", "shop.v1\x1b[2J", "--shop", "shop..v1", "$(reboot)", "a/b", strings.Repeat("a.", 130) + "a"} {
		if got := validate("stable", bundle); got != "object-name" {
			t.Errorf("bundle %q: %s", bundle, got)
		}
	}
	for _, channel := range []string{"a b", "a\n::add-mask::x", "a\u202eb", "a\x1bb", "a\u00a0b"} {
		if got := validate(channel, "shop.v1.0.0"); got != "object-name" {
			t.Errorf("channel %q: %s", channel, got)
		}
	}
	for _, channel := range []string{"stable", "v4.20_Beta", "größe"} {
		if got := validate(channel, "3scale-operator.v0.8.3-0.1649688682.p"); got != "" {
			t.Errorf("channel %q: %s", channel, got)
		}
	}
}
