//go:build !unix

package cluster

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

func ownGroup(*exec.Cmd) {}

func killGroup(int) {}

type reservedPort struct{ number int }

func reservePort() (*reservedPort, error) {
	return nil, fmt.Errorf("test clusters on %s: %w: they need process groups, signals and Unix sockets", runtime.GOOS, errors.ErrUnsupported)
}

func (p *reservedPort) release() {}
