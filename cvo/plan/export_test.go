package plan

// RunCommand carries out a command on the cluster of a situation, as [CheckCommands] does.
func RunCommand(s *Situation, line string) error {
	c := &client{s: s, release: s.Cluster.Runs(), channel: s.Cluster.Spec.Channel}
	return c.run(line)
}
