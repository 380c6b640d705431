package resolution

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// deepBundles is a catalog on which a search that gives up the wrong choice goes
// astray: that a.v2 conflicts with what x and y need shows only several choices after
// a.v2 was picked. Each package's bundles are listed from the head of its channel, with
// the APIs that they provide, or require if there is a dash.
const deepBundles = `
a.v2 Z11 Z22 W12 W21
a.v1
i.v1 - K
k.v2 K
k.v1 K
x.v2 - X2Z X2W
x.v1 - X1Z X1W
y.v2 - Y2Z Y2W
y.v1 - Y1Z Y1W
z.v4 X2Z Y2Z Z11
z.v3 X2Z Y1Z
z.v2 X1Z Y2Z
z.v1 X1Z Y1Z Z22
w.v4 X2W Y2W
w.v3 X2W Y1W W12
w.v2 X1W Y2W W21
w.v1 X1W Y1W
`

// DeepConflict returns the task of subscriptions to a, i, x and y of that catalog.
func DeepConflict(ctx context.Context) (*Task, error) {
	var text strings.Builder
	var entries []catalog.Entry
	write := writer(&text)
	lines := strings.Split(strings.TrimSpace(deepBundles), "\n")
	for i, line := range lines {
		provided, required, _ := strings.Cut(line, "-")
		words := strings.Fields(provided)
		name := words[0]
		pkg, version, _ := strings.Cut(name, ".v")
		properties := []any{property("olm.package", object{"packageName": pkg, "version": version + ".0.0"})}
		for _, api := range words[1:] {
			properties = append(properties, property("olm.gvk", gvk(api)))
		}
		for _, api := range strings.Fields(required) {
			properties = append(properties, property("olm.gvk.required", gvk(api)))
		}
		write(object{"schema": "olm.bundle", "package": pkg, "name": name, "image": "i/" + name, "properties": properties})
		if n := len(entries); n > 0 {
			entries[n-1].Replaces = name
		}
		entries = append(entries, catalog.Entry{Name: name})
		if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], pkg+".") {
			write(object{"schema": "olm.package", "name": pkg, "defaultChannel": "m"})
			write(object{"schema": "olm.channel", "package": pkg, "name": "m", "entries": entries})
			entries = nil
		}
	}
	key := olm.SourceKey{Name: "c0", Namespace: taskNamespace}
	held, err := openText(ctx, text.String())
	if err != nil {
		return nil, fmt.Errorf("deep conflict: %w", err)
	}
	t := &Task{Global: globalNamespace, Request: &olm.Request{Namespace: taskNamespace}, Sources: []olm.Source{{SourceKey: key, Catalog: held}}}
	for _, pkg := range []string{"a", "i", "x", "y"} {
		t.Request.Subscriptions = append(t.Request.Subscriptions, olm.Subscription{
			ObjectMeta: olm.ObjectMeta{Name: pkg, Namespace: taskNamespace},
			Spec:       olm.SubscriptionSpec{Package: pkg, Channel: "m", Source: key.Name, SourceNamespace: key.Namespace},
		})
	}
	return t, nil
}
