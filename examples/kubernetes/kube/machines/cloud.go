package machines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
)

// Cloud accesses the instances of machines. Its methods may be called from
// several goroutines, for different machines.
type Cloud interface {
	// Instance reports whether the cloud has the machine's instance, including one
	// that is being deleted. The empty Instance, or an error, means that this is
	// not known now.
	Instance(ctx context.Context, m *lifecycle.Machine) (lifecycle.Instance, error)

	// Delete requests the deletion of the instance. It need not wait until
	// that is done. It is not an error if the instance is gone, or being
	// deleted.
	Delete(ctx context.Context, m *lifecycle.Machine) error
}

// Stopper is a Cloud that can tell whether an existing instance is running;
// see drain.Policy.ForceStopped.
type Stopper interface {
	// Stopped reports whether the instance is known not to be running; false if
	// that is unknown.
	Stopped(ctx context.Context, m *lifecycle.Machine) (bool, error)
}

// Program is a Cloud that calls your program as
//
//	program exists|delete PROVIDER-ID NAMESPACE/NAME
//
// "exists" prints yes or no and exits with 0; "delete" exits with 0 once the
// deletion was requested. Any other exit is an error, reported with the
// program's standard error. For a machine without a providerID, PROVIDER-ID is
// empty.
type Program struct {
	Path    string        // the program
	Timeout time.Duration // for one call; zero means 30 seconds
}

// Instance implements Cloud.
func (p *Program) Instance(ctx context.Context, m *lifecycle.Machine) (lifecycle.Instance, error) {
	out, err := p.call(ctx, "exists", m)
	if err != nil {
		return "", err
	}
	switch answer := strings.TrimSpace(out); answer {
	case "yes":
		return lifecycle.InstanceExists, nil
	case "no":
		return lifecycle.InstanceGone, nil
	default:
		return "", fmt.Errorf("%s exists %s: printed %q: must print yes or no", p.Path, m.Spec.ProviderID, shorten(answer))
	}
}

// Delete implements Cloud.
func (p *Program) Delete(ctx context.Context, m *lifecycle.Machine) error {
	_, err := p.call(ctx, "delete", m)
	return err
}

func (p *Program) call(ctx context.Context, verb string, m *lifecycle.Machine) (string, error) {
	most := p.Timeout
	if most == 0 {
		most = 30 * time.Second
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("it took longer than %v", most))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, verb, m.Spec.ProviderID, m.ObjectMeta.String())
	cmd.WaitDelay = time.Second // for child processes that keep its output open
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		return string(out), nil
	}
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return "", fmt.Errorf("%s %s %s: %w: %s", p.Path, verb, m.Spec.ProviderID, err, shorten(strings.TrimSpace(said.String())))
}

// shorten limits the output of a program in events.
func shorten(s string) string {
	const most = 300
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
