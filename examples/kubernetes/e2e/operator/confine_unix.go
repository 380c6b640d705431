//go:build unix

package operator

import (
	"os/exec"
	"syscall"
)

// confine makes a command run as the user of the image, with another root
// directory.
func confine(cmd *exec.Cmd, root string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
}
