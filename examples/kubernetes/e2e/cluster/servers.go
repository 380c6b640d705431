package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The names of the programs, in the order in which they are started.
const (
	etcdName    = "etcd"
	apiName     = "kube-apiserver"
	managerName = "kube-controller-manager"
	// It runs if Options.Scheduler asks for it.
	schedulerName = "kube-scheduler"
)

// ServersVariable is the environment variable that names the directory of the
// server programs.
const ServersVariable = "FAIRLEAD_SERVERS"

// A MissingServersError reports that server programs are missing.
type MissingServersError struct {
	// Dir is the directory that was searched.
	Dir string
	// Names are the missing programs, in the order in which they are started.
	Names []string
}

// Error names the missing programs and how to get them.
func (e *MissingServersError) Error() string {
	return fmt.Sprintf("no %s in %s: build the servers with e2e/run of the module examples/kubernetes, or name the directory that contains them in %s",
		strings.Join(e.Names, ", "), e.Dir, ServersVariable)
}

// Servers returns the directory of the server programs: that in
// FAIRLEAD_SERVERS or, if it is not set, .cache/servers beside the nearest
// go.mod file in the working directory or above. The error is a
// *[MissingServersError] if a program is missing.
func Servers() (string, error) {
	dir := os.Getenv(ServersVariable)
	if dir == "" {
		root, err := moduleRoot()
		if err != nil {
			return "", fmt.Errorf("looking for the servers: %w", err)
		}
		dir = filepath.Join(root, ".cache", "servers")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("looking for the servers: %w", err)
	}
	return dir, checkServers(dir)
}

// Program returns the path of a program beside the servers: kubectl, registry or
// opm. The error is a *[MissingServersError] if it is missing.
func Program(name string) (string, error) {
	dir, err := Servers()
	if err == nil {
		err = checkPrograms(dir, name)
	}
	return filepath.Join(dir, name), err
}

// checkServers returns an error that names the missing programs.
func checkServers(dir string) error { return checkPrograms(dir, etcdName, apiName, managerName) }

func checkPrograms(dir string, names ...string) error {
	var missing []string
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return &MissingServersError{Dir: dir, Names: missing}
	}
	return nil
}

// moduleRoot returns the nearest directory with a go.mod file, from the working
// directory upwards.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for start := dir; ; {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod in %s or above: set %s", start, ServersVariable)
		}
		dir = parent
	}
}
