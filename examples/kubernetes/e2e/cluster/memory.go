package cluster

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Memory is the memory of a process, in bytes.
type Memory struct {
	// Resident is the present resident memory.
	Resident int64
	// Peak is the maximum so far. It is zero except on Linux.
	Peak int64
}

// MemoryOf returns the memory of a process.
func MemoryOf(pid int) (Memory, error) {
	read := memoryByPS
	if runtime.GOOS == "linux" {
		read = memoryByProc
	}
	m, err := read(pid)
	if err != nil {
		return Memory{}, fmt.Errorf("the memory of process %d: %w", pid, err)
	}
	return m, nil
}

// memoryByProc reads it from Linux's /proc.
func memoryByProc(pid int) (Memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	var m Memory
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch name {
		case "VmRSS":
			m.Resident, err = kibibytes(strings.TrimSuffix(value, "kB"))
		case "VmHWM":
			m.Peak, err = kibibytes(strings.TrimSuffix(value, "kB"))
		}
		if err != nil {
			return Memory{}, err
		}
	}
	if m.Resident == 0 {
		return Memory{}, fmt.Errorf("it has none: it has ended and was not waited for")
	}
	return m, nil
}

// memoryByPS reads it from ps, which other Unix systems have.
func memoryByPS(pid int) (Memory, error) {
	text, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return Memory{}, fmt.Errorf("ps: %w", err)
	}
	resident, err := kibibytes(string(text))
	return Memory{Resident: resident}, err
}

func kibibytes(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n << 10, err
}
