package fbc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

// suites are the suites that check a bundle, and their input.
type suites struct {
	names                 *[]string
	dockerfile, platforms *string
}

func (c *call) suiteFlags() *suites {
	return &suites{c.Words("suite"), c.Flags.String("dockerfile", "", ""), c.Flags.String("platforms", "", "")}
}

// of checks a bundle.
func (s *suites) of(b *bundle.Bundle) (faults, warnings catalog.Diagnostics, err error) {
	opts := &bundle.SuiteOptions{}
	if *s.dockerfile != "" {
		if opts.Dockerfile, err = readRegular(*s.dockerfile); err != nil {
			return nil, nil, err
		}
	}
	if *s.platforms != "" {
		if opts.Platforms, err = readPlatforms(*s.platforms); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range *s.names {
		if !slices.Contains(bundle.Suites(), bundle.Suite(name)) {
			var known []string
			for _, k := range bundle.Suites() {
				known = append(known, string(k))
			}
			return nil, nil, &args.UsageError{Text: fmt.Sprintf("unknown suite %q: choose one of %s", name, words.List(known, "or", 9))}
		}
		f, w := b.Suite(bundle.Suite(name), opts)
		faults, warnings = append(faults, f...), append(warnings, w...)
	}
	return faults, warnings, nil
}

// readPlatforms reads the platforms of images.
func readPlatforms(path string) (func(image string) ([]bundle.Platform, error), error) {
	text, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	var known map[string][]string
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, fmt.Errorf(`%s: %w; write {"IMAGE": ["linux/amd64"]}`, path, err)
	}
	return func(image string) ([]bundle.Platform, error) {
		names, ok := known[image]
		if !ok {
			return nil, fmt.Errorf("%s does not name it", path)
		}
		var list []bundle.Platform
		for _, name := range names {
			os, arch, ok := strings.Cut(name, "/")
			if !ok {
				return nil, fmt.Errorf("%s: %q is not SYSTEM/ARCHITECTURE", path, name)
			}
			list = append(list, bundle.Platform{OS: os, Architecture: arch})
		}
		return list, nil
	}, nil
}
