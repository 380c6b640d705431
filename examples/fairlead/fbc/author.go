package fbc

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/internal/words"
)

func initPackage(c *call) error {
	channel := c.Flags.String("default-channel", "", "")
	description := c.Flags.String("description", "", "")
	icon := c.Flags.String("icon", "", "")
	format := c.Choice("o", "json", "yaml")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	t := edit.PackageTemplate{Name: c.Arg(0), DefaultChannel: *channel}
	if *description != "" {
		text, err := readRegular(*description)
		if err != nil {
			return err
		}
		t.Description = string(text)
	}
	if *icon != "" {
		image, err := readRegular(*icon)
		if err != nil {
			return err
		}
		t.Icon = image
	}
	document, err := edit.NewPackage(t)
	if err == nil && *format == "yaml" {
		document, err = catalog.YAML(document)
		document = append([]byte("---\n"), document...)
	}
	if err != nil {
		return err
	}
	_, err = c.Stdout.Write(document)
	return err
}

func dockerfile(c *call) error {
	base := c.Flags.String("i", "", "")
	builder := c.Flags.String("b", "", "")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	dir := filepath.Clean(c.Arg(0))
	if base := filepath.Base(dir); base == "." || base == ".." { // the file is written beside the directory, which needs a name
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	text, err := source.Dockerfile(source.ImageTemplate{Directory: filepath.Base(dir), Base: *base, Builder: *builder})
	if err != nil {
		return err
	}
	name := dir + ".Dockerfile"
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
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
	_, err = words.Fprintf(c.Stdout, "%s\n", name)
	return err
}
