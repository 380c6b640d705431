package explain

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver/olm/resource"
)

// offers returns what its catalog offers of the package of a subscription; nil if that is not known.
func (c *Cluster) offers(sub *resource.Subscription) *resource.PackageStatus {
	at := slices.IndexFunc(c.Packages, func(p resource.PackageManifest) bool {
		from := p.Status.CatalogSource == sub.Spec.Source && p.Status.CatalogSourceNamespace == sub.Spec.SourceNamespace
		return p.Name == sub.Spec.Package && (from || sub.Spec.Source == "")
	})
	if at < 0 {
		return nil
	}
	return &c.Packages[at].Status
}

// channel returns a channel of a package, or nil.
func channel(p *resource.PackageStatus, name string) *resource.PackageChannel {
	if at := slices.IndexFunc(p.Channels, func(x resource.PackageChannel) bool { return x.Name == name }); at >= 0 {
		return &p.Channels[at]
	}
	return nil
}

// has reports whether a channel has a CSV.
func has(x *resource.PackageChannel, csv string) bool {
	return x.CurrentCSV == csv || slices.ContainsFunc(x.Entries, func(e resource.ChannelEntry) bool { return e.Name == csv })
}

// serves reports whether a channel of a package that is offered serves a subscription: it exists, and has
// what is installed, so that updates lead on from there.
func (c *Cluster) serves(sub *resource.Subscription, name string) bool {
	p := c.offers(sub)
	if p == nil {
		return false
	}
	x := channel(p, name)
	return x != nil && (sub.Status.InstalledCSV == "" || has(x, sub.Status.InstalledCSV))
}

// instead returns the change of a subscription to another channel that serves it: the package's default
// channel, or else the first by name; one that is deprecated comes last. nil without one.
func (c *Cluster) instead(sub *resource.Subscription) *Change {
	p, best, cost := c.offers(sub), "", 4
	if p == nil {
		return nil
	}
	for i := range p.Channels {
		x, n := &p.Channels[i], 0
		if x.Name == sub.Spec.Channel || !c.serves(sub, x.Name) {
			continue
		}
		if x.Deprecation != nil {
			n += 2
		}
		if x.Name != p.DefaultChannel {
			n++
		}
		if n < cost {
			best, cost = x.Name, n
		}
	}
	if best == "" {
		return nil
	}
	spec := map[string]any{"channel": best}
	if s := sub.Spec.StartingCSV; s != "" && sub.Status.InstalledCSV == "" && !has(channel(p, best), s) {
		spec["startingCSV"] = nil
	}
	return &Change{Kind: KindSubscription, Namespace: sub.Namespace, Name: sub.Name, Patch: map[string]any{"spec": spec}}
}

// channelOf returns the channel that a change makes the one of a subscription.
func channelOf(x *Change) any { return x.Patch["spec"].(map[string]any)["channel"] }

// noSuchChannel is a subscription to a channel that its package does not have.
func (c *Cluster) noSuchChannel(namespace, name, pkg, missing string) (text string, commands []string, changes []Change) {
	list := []string{c.listChannels(namespace, name, pkg)}
	sub := c.sub(namespace, name)
	if sub == nil || c.offers(sub) == nil || channel(c.offers(sub), missing) != nil {
		return fmt.Sprintf("package %s has no channel %s: write one that it has as spec.channel of the subscription", pkg, missing), list, nil
	}
	to := c.instead(sub)
	if to == nil {
		return fmt.Sprintf("package %s has no channel %s, and no other one has %s, which is installed: uninstall it, and subscribe to a channel that the package has", pkg, missing, sub.Status.InstalledCSV), list, nil
	}
	text = fmt.Sprintf("package %s has no channel %s: change the subscription's to %s", pkg, missing, channelOf(to))
	if sub.Status.InstalledCSV != "" {
		text += ", which has " + sub.Status.InstalledCSV
	}
	return text, nil, []Change{*to}
}

// leave notes how a subscription leaves a channel that is deprecated.
func (c *Cluster) leave(v *View, sub *resource.Subscription) {
	p := c.offers(sub)
	if p == nil {
		return
	}
	x := channel(p, sub.Spec.Channel)
	told := holds(sub.Status.Conditions, "ChannelDeprecated") != nil
	if !told && (x == nil || x.Deprecation == nil) {
		return
	}
	if !told {
		v.Notes = append(v.Notes, "ChannelDeprecated: "+clause(x.Deprecation.Message))
	}
	if to := c.instead(sub); to != nil && channel(p, channelOf(to).(string)).Deprecation == nil {
		v.Notes = append(v.Notes, fmt.Sprintf("channel %s is not deprecated, and has it, too: %s", channelOf(to), to.Command()))
	}
}
