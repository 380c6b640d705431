package group_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// modes parses "own single multi all"; a mode with "!" before it is stated as not
// supported.
func modes(text string) group.InstallModes {
	types := map[string]group.InstallModeType{
		"own": group.ModeOwnNamespace, "single": group.ModeSingleNamespace,
		"multi": group.ModeMultiNamespace, "all": group.ModeAllNamespaces,
	}
	var m group.InstallModes
	for _, word := range strings.Fields(text) {
		name, not := strings.CutPrefix(word, "!")
		m = append(m, group.InstallMode{Type: types[name], Supported: !not})
	}
	return m
}

func TestSupports(t *testing.T) {
	for _, c := range []struct {
		name, modes string
		targets     []string
		mode        group.InstallModeType // the missing one
		text        string                // of the error; "" means none
	}{
		{"none selected", "own single multi all", nil, "", "selects no namespaces; make the group select the operator's own namespace, or one other namespace, or several namespaces, or all namespaces"},
		{"own", "own", []string{"ops"}, "", ""},
		{"own, without", "!own single multi all", []string{"ops"}, group.ModeOwnNamespace, "own namespace ops; make the group select one other namespace"},
		{"own is not single", "single", []string{"ops"}, group.ModeOwnNamespace, "OwnNamespace is not supported"},
		{"single", "single", []string{"a"}, "", ""},
		{"single, without", "own multi all", []string{"a"}, group.ModeSingleNamespace, "selects one other namespace, a;"},
		{"all", "all", []string{""}, "", ""},
		{"all, without", "own single multi !all", []string{""}, group.ModeAllNamespaces, "selects all namespaces;"},
		{"several", "multi", []string{"a", "b"}, "", ""},
		{"several, without", "own single all", []string{"a", "b", "c"}, group.ModeMultiNamespace, "selects 3 namespaces;"},
		{"several with own", "own multi", []string{"a", "ops"}, "", ""},
		{"several with own, without", "single multi all", []string{"a", "ops"}, group.ModeOwnNamespace, "own namespace ops among others;"},
		{"several with all", "own single multi all", []string{"a", ""}, "", "selects all namespaces and others with them;"},
		{"own before all", "multi all", []string{"ops", ""}, group.ModeOwnNamespace, "among others"},
		{"all before own", "multi all", []string{"", "ops"}, "", "all namespaces and others"},
		{"no mode is no support", "", []string{"a"}, group.ModeSingleNamespace, "supports no install mode at all"},
	} {
		err := modes(c.modes).Supports("ops", c.targets)
		if c.text == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var mode *group.ModeError
		if !errors.As(err, &mode) || mode.Mode != c.mode || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestModesStatedTwice(t *testing.T) {
	if err := modes("own all own").Check(); err == nil || !strings.Contains(err.Error(), "OwnNamespace is stated twice") {
		t.Errorf("%v", err)
	}
	if err := modes("own !single multi all").Check(); err != nil {
		t.Error(err)
	}
}
