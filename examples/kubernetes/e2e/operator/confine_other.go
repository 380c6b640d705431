//go:build !unix

package operator

import "os/exec"

func confine(*exec.Cmd, string) {}
