package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fairlead/fairlead/catalog"
)

func initPackage(c *call) error {
	channel := c.flags.String("default-channel", "", "")
	description := c.flags.String("description", "", "")
	icon := c.flags.String("icon", "", "")
	format := c.choice("o", "json", "yaml")
	if err := c.parse(1, 1); err != nil {
		return err
	}
	t := catalog.PackageTemplate{Name: c.arg(0), DefaultChannel: *channel}
	if *description != "" {
		text, err := os.ReadFile(*description)
		if err != nil {
			return err
		}
		t.Description = string(text)
	}
	if *icon != "" {
		image, err := os.ReadFile(*icon)
		if err != nil {
			return err
		}
		t.Icon = image
	}
	document, err := catalog.NewPackage(t)
	if err == nil && *format == "yaml" {
		document, err = catalog.YAML(document)
		document = append([]byte("---\n"), document...)
	}
	if err != nil {
		return err
	}
	_, err = c.stdout.Write(document)
	return err
}

func dockerfile(c *call) error {
	base := c.flags.String("i", "", "")
	builder := c.flags.String("b", "", "")
	if err := c.parse(1, 1); err != nil {
		return err
	}
	dir := filepath.Clean(c.arg(0))
	if base := filepath.Base(dir); base == "." || base == ".." { // the file lies beside the directory, which needs a name
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	text, err := catalog.Dockerfile(catalog.ImageTemplate{Directory: filepath.Base(dir), Base: *base, Builder: *builder})
	if err != nil {
		return err
	}
	name := dir + ".Dockerfile"
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.stdout, name)
	return err
}
