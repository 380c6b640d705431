//go:build unix

package cluster

import (
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes the command the leader of a new process group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills the processes of a group that has not been waited for. It
// cannot fail for child processes.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
}

// A reservedPort is a port of 127.0.0.1 that no other process gets as long as
// it is held, even while the API server is stopped. The socket that holds it is
// bound but does not listen, so connections are refused until a server that
// shares the port (SO_REUSEPORT, same user) listens.
type reservedPort struct {
	number int
	socket int
}

// reservePort takes a free port.
func reservePort() (*reservedPort, error) {
	syscall.ForkLock.RLock()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("reserving a port: %w", err)
	}
	p := &reservedPort{socket: socket}
	if p.number, err = bind(socket); err != nil {
		p.release()
		return nil, fmt.Errorf("reserving a port of 127.0.0.1: %w", err)
	}
	return p, nil
}

// bind binds the socket to a free port and returns the port.
func bind(socket int) (int, error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	name, err := unix.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	address, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("the socket's address is a %T", name)
	}
	return address.Port, nil
}

// release releases the port.
func (p *reservedPort) release() { _ = unix.Close(p.socket) }
