package fbc

import (
	"fmt"
	"io"
	"os"
)

// maxSmall is the largest file that is read whole, in bytes.
const maxSmall = 16 << 20

// readRegular reads a file that an argument names. It opens only regular files, because
// pipes and devices may never end, and reads at most maxSmall bytes, even if the file
// grows.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(text) > maxSmall {
		err = fmt.Errorf("%s has more than %d bytes, which is the most that is read", path, maxSmall)
	}
	return text, err
}
