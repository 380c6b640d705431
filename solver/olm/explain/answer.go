package explain

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// AnswerOf returns what a resolution says of a namespace. It reads the chosen
// bundles for their install modes, and their packages for deprecations.
func AnswerOf(res *olm.Resolution) *Answer {
	a := &Answer{}
	for i := range res.Chosen {
		c := &res.Chosen[i]
		n := Next{CSV: c.Name, Updates: c.Updates, Subscriptions: c.Subscriptions}
		for _, r := range c.RequiredBy {
			n.RequiredBy = append(n.RequiredBy, r.Operator)
		}
		if c.Bundle != nil {
			n.Modes, n.ModesKnown = modesOf(c.Bundle)
			n.Deprecated = deprecations(c)
			n.MaxOpenShift = maxOpenShift(c.Bundle)
		}
		a.Next = append(a.Next, n)
	}
	return a
}

// modesOf reads the install modes that a catalog states for a bundle: in its
// metadata, or in its CSV.
func modesOf(b *catalog.Bundle) (modes group.InstallModes, known bool) {
	props, err := b.Properties()
	if err != nil {
		return nil, false
	}
	for _, p := range props {
		var meta struct {
			Kind  string             `json:"kind"`
			Modes group.InstallModes `json:"installModes"`
			Data  string             `json:"data"`
			Spec  struct {
				Modes group.InstallModes `json:"installModes"`
			} `json:"spec"`
		}
		switch p.Type {
		case catalog.PropertyCSVMetadata:
			if json.Unmarshal(p.Value, &meta) == nil && len(meta.Modes) > 0 {
				return meta.Modes, true
			}
		case catalog.PropertyBundleObject:
			if json.Unmarshal(p.Value, &meta) != nil {
				continue
			}
			text, err := base64.StdEncoding.DecodeString(meta.Data)
			if err == nil && json.Unmarshal(text, &meta) == nil && meta.Kind == "ClusterServiceVersion" && len(meta.Spec.Modes) > 0 {
				return meta.Spec.Modes, true
			}
		}
	}
	return nil, false
}

// maxOpenShift is the last version of OpenShift that a bundle states, or "".
func maxOpenShift(b *catalog.Bundle) string {
	props, err := b.Properties()
	if err != nil {
		return ""
	}
	for _, p := range props {
		if p.Type == catalog.PropertyMaxOpenShift {
			return strings.Trim(string(p.Value), `"`)
		}
	}
	return ""
}

// deprecations are the deprecations of a choice, a sentence each.
func deprecations(c *olm.Choice) []string {
	all, err := c.Deprecations()
	if err != nil {
		return []string{"deprecations of " + c.Name + " are not known: " + err.Error()}
	}
	var texts []string
	for _, d := range all {
		what := map[string]string{catalog.SchemaPackage: "package " + c.Package, catalog.SchemaChannel: "channel " + c.Channel, catalog.SchemaBundle: c.Name}[d.Reference.Schema]
		texts = append(texts, fmt.Sprintf("%s is deprecated: %s", what, strings.Join(strings.Fields(d.Message), " ")))
	}
	return texts
}
