package diagnosis

import (
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// tooManyUnhealthy is the engine's reason not to replace machines because so many are unhealthy.
const tooManyUnhealthy = "TooManyUnhealthy"

// noController is its reason not to replace a machine that belongs to no set.
const noController = "NoController"

// checksWait adds the health checks that would replace machines and do not, with what they wait for.
func (b *builder) checksWait() {
	for i := range b.checks {
		c := &b.checks[i]
		report := b.health(c)
		if report == nil || len(report.Blocked) == 0 || len(report.Remediate) > 0 || report.Blocked[0].Reason == noController {
			continue
		}
		block := report.Blocked[0]
		x := Node{Kind: "MachineHealthCheck", Namespace: c.Namespace, Name: c.Name, State: Waiting, Reason: block.Reason, Since: block.Since, Sure: Derived, Owner: "administrator"}
		x.Says = "MachineHealthCheck " + c.ObjectMeta.String() + " replaces no machine: " + block.Message
		id, waits := ID(x.Kind, x.Namespace, x.Name), false
		for k := range report.Targets {
			if t := &report.Targets[k]; t.Unhealthy {
				for _, to := range []string{"machine/" + t.Machine, ID("Node", "", t.Node)} {
					if b.have[to] {
						b.wait(id, to, "Counts", Derived)
						waits = true
					}
				}
			}
		}
		if !waits {
			x.State, x.do, x.command = Faulty, block.Unblock, shell.Command("kubectl -n %s describe machinehealthcheck %s", c.Namespace, c.Name)
		}
		b.add(x)
	}
}

// health asks the engine about a check; nil if the check cannot be read.
func (w *world) health(c *fleet.HealthCheck) *fleet.HealthReport {
	var targets []fleet.Target
	for i := range w.machines {
		m := &w.machines[i]
		if m.Namespace == c.Namespace {
			targets = append(targets, fleet.Target{Machine: m, Node: lifecycle.NodeOf(m, w.nodes)})
		}
	}
	report, err := c.Evaluate(targets, w.now)
	if err != nil {
		return nil
	}
	return report
}

// remediation is what lets a health check replace the machine of a node, if one would and must not.
func (w *world) remediation(node string) *Step {
	for i := range w.checks {
		c := &w.checks[i]
		report := w.health(c)
		if report == nil || len(report.Blocked) == 0 || report.Blocked[0].Reason != tooManyUnhealthy {
			continue
		}
		for k := range report.Targets {
			if t := &report.Targets[k]; t.Unhealthy && t.Node == node {
				return &Step{
					Do: "Let MachineHealthCheck " + c.ObjectMeta.String() + " replace it although so many are unhealthy", Command: w.program(shell.Command("kubectl -n %s patch machinehealthcheck %s --type merge -p %s", c.Namespace, c.Name, `{"spec":{"maxUnhealthy":"100%"}}`)),
					Must: "the machines themselves are broken, and not the network to them", See: w.program(shell.Command("kubectl -n %s get machines -o wide", c.Namespace)),
				}
			}
		}
	}
	return nil
}
