package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// CheckCommands goes through the commands of a plan in their order, on the cluster as it is
// by then, and returns an error for the first that oc would refuse. It restates the
// conditions of oc itself: pkg/cli/admin/upgrade/upgrade.go and channel/channel.go of
// openshift/oc, as read at 6b8e30c5b (main) and 6f88b5846 (4.16), whose programs answer as it does
// (TestOC):
//
//  1. a channel must be one of those of the running release, if these are known;
//  2. a version must be among the available updates, or among the conditional ones with
//     --allow-not-recommended;
//  3. no update is requested while the ClusterVersion is invalid, failing or progressing.
//
// Of other commands it checks that they are whole: no word stands for a name that is known.
func CheckCommands(s *Situation, p *Plan) error {
	c := &client{s: s, release: p.From, channel: s.Cluster.Spec.Channel}
	for i := range p.Steps {
		x := &p.Steps[i]
		commands := []string{}
		for _, t := range x.First {
			commands = append(commands, t.Command)
		}
		commands = append(commands, x.Command)
		for _, t := range x.Then {
			commands = append(commands, t.Command)
		}
		for _, text := range commands {
			if err := c.run(text); err != nil {
				return fmt.Errorf("step %d, %s: %s: %w", i+1, x, text, err)
			}
		}
		if x.Kind == MoveCluster {
			if to, moving := onItsWay(s); c.requested != x.To && !(moving && to == x.To) {
				return fmt.Errorf("step %d, %s: no command requests it", i+1, x)
			}
			c.release, c.moved = x.To, true
		}
	}
	return nil
}

// client is oc, and what it sees.
type client struct {
	s         *Situation
	release   string // that runs
	channel   string
	requested string
	moved     bool // the conditions of the situation are of another release
	cleared   bool // the request of the situation is withdrawn
}

// run carries out a command line.
func (c *client) run(text string) error {
	for _, line := range strings.Split(text, " && ") {
		words := split(line)
		if len(words) == 0 {
			return fmt.Errorf("it is empty")
		}
		if words[0] != "oc" {
			continue // curl, or a sentence for people
		}
		for _, w := range words {
			if name := strings.TrimLeft(w, "-"); name == "NAME" || name == "TYPE/NAME" || strings.HasSuffix(name, "=NAME") {
				return fmt.Errorf("%s stands for a name", w)
			}
		}
		if len(words) < 3 || words[1] != "adm" || words[2] != "upgrade" {
			continue
		}
		if len(words) > 3 && words[3] == "channel" {
			if err := c.setChannel(words[4:]); err != nil {
				return err
			}
			continue
		}
		if err := c.upgrade(words[3:]); err != nil {
			return err
		}
	}
	return nil
}

// split returns the words of a command line; quotes are single ones.
func split(line string) (list []string) {
	var word strings.Builder
	quoted, begun := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
			if begun {
				list = append(list, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		list = append(list, word.String())
	}
	return list
}

func (c *client) setChannel(words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("it needs one channel")
	}
	if known := c.s.Channels[c.release]; len(known) > 0 && !slices.Contains(known, words[0]) {
		return fmt.Errorf("the channel %s is not one of those of %s: %s", words[0], c.release, strings.Join(known, ", "))
	}
	c.channel = words[0]
	return nil
}

func (c *client) upgrade(words []string) error {
	allow, to := false, ""
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "--allow-not-recommended":
			allow = true
		case "--to":
			to = value
		case "--clear":
			c.requested, c.cleared = "", true
		default:
			return fmt.Errorf("unexpected flag %s", key)
		}
	}
	if to == "" || to == c.release { // of the release that runs, oc says so and requests nothing
		return nil
	}
	if !c.moved {
		for _, kind := range []string{"Invalid", "Failing", "Progressing"} {
			if x := c.s.Cluster.Says(kind); x != nil && !(kind == "Invalid" && c.cleared) {
				return fmt.Errorf("the ClusterVersion reports %s (%s)", kind, x.Reason)
			}
		}
	}
	available, conditional := c.offers()
	switch {
	case slices.Contains(available, to):
	case slices.Contains(conditional, to) && !allow:
		return fmt.Errorf("%s is a conditional update, which needs --allow-not-recommended", to)
	case !slices.Contains(conditional, to):
		return fmt.Errorf("%s is not one of the updates of %s in channel %s", to, c.release, c.channel)
	}
	c.requested = to
	return nil
}

// offers returns the available updates of the running release, and the conditional ones that
// are not recommended.
func (c *client) offers() (available, conditional []string) {
	if known := c.s.Channels[c.release]; len(known) > 0 && !slices.Contains(known, c.channel) && c.moved {
		return nil, nil // VersionNotFound
	}
	for _, m := range c.s.Moves {
		in := c.s.Channels[m.To]
		if m.From != c.release || len(in) > 0 && !slices.Contains(in, c.channel) {
			continue
		}
		if slices.ContainsFunc(m.Risks, func(name string) bool {
			return !slices.ContainsFunc(c.s.Risks, func(r Risk) bool { return r.Name == name && r.Applies == fairlead.ConditionFalse })
		}) {
			conditional = append(conditional, m.To)
		} else {
			available = append(available, m.To)
		}
	}
	return available, conditional
}
