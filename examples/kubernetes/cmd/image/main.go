// Command image builds the operator as a container image, without a container
// engine, and pushes it or writes it as an OCI layout:
//
//	go run ./cmd/image -push registry.example/fairlead-operator:v0.1.0
//	go run ./cmd/image -layout DIR
//
// The image contains the program, statically linked, and the certificates of
// public authorities, and nothing else. It runs as a user that cannot write
// anywhere. The same sources, Go version and certificates result in the same
// digest, which is printed. Credentials for the registry are those of docker or
// podman.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "image: %v\n", err)
		stop()
		os.Exit(1)
	}
}

// run is the program. It prints the image by digest.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line is enough for an error
	flags.Usage = func() {}
	push := flags.String("push", "", "`reference` to push the image to, such as registry.example/fairlead-operator:v0.1.0")
	dir := flags.String("layout", "", "`directory` to write the image to, as an OCI layout; it must not exist")
	version := flags.String("version", "", "`version` in the labels of the image; empty means the tag of -push")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "`platforms` of the image, separated by commas")
	program := flags.String("program", "", "`file` with the program, already built, for a single platform; empty builds cmd/operator")
	certificates := flags.String("certificates", "/etc/ssl/certs/ca-certificates.crt", "`file` with the certificates of authorities; empty means none, if no registry or update service is used")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, "usage: image -push REFERENCE | -layout DIR [flags]\n\nBuilds the operator as a container image.\n\n")
		flags.SetOutput(out)
		flags.PrintDefaults()
		return nil
	case err != nil:
		return fmt.Errorf("%w; -help lists the flags", err)
	}
	var to name.Reference
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%q: takes no arguments, only flags; -help lists them", flags.Arg(0))
	case (*push == "") == (*dir == ""):
		return errors.New("name a destination: either -push REFERENCE or -layout DIR")
	case *push != "":
		var err error
		if to, err = name.ParseReference(*push); err != nil {
			return fmt.Errorf("-push: %w", err)
		}
		if tag, ok := to.(name.Tag); ok && *version == "" {
			*version = tag.TagStr()
		}
	default:
		if _, err := os.Stat(*dir); err == nil {
			return fmt.Errorf("-layout: %s exists", *dir)
		}
	}
	var trusted []byte
	if *certificates != "" {
		var err error
		if trusted, err = os.ReadFile(*certificates); err != nil {
			return fmt.Errorf("-certificates: %w", err)
		}
	}
	index, err := build(ctx, strings.Split(*platforms, ","), *program, trusted, *version)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if to == nil {
		if _, err := layout.Write(*dir, index); err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, digest)
		return err
	}
	if err := remote.WriteIndex(to, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	_, err = fmt.Fprintln(out, to.Context().Digest(digest.String()))
	return err
}

// build builds the image for the platforms.
func build(ctx context.Context, platforms []string, program string, trusted []byte, version string) (v1.ImageIndex, error) {
	if program != "" && len(platforms) > 1 {
		return nil, errors.New("-program is for a single platform: name it in -platforms")
	}
	var images []v1.Image
	for _, platform := range platforms {
		p, err := v1.ParsePlatform(platform)
		if err != nil || p.OS == "" || p.Architecture == "" {
			return nil, fmt.Errorf("-platforms: %q is not OS/ARCHITECTURE", platform)
		}
		data, err := read(ctx, program, p)
		if err != nil {
			return nil, err
		}
		img, err := imageOf(data, trusted, p, version)
		if err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	return indexOf(images), nil
}

// read returns the program for a platform.
func read(ctx context.Context, file string, p *v1.Platform) ([]byte, error) {
	if file != "" {
		return os.ReadFile(file)
	}
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file = filepath.Join(dir, "operator")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file, "github.com/fairlead/fairlead/examples/kubernetes/cmd/operator")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Architecture)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("go build for %s: %w", p, err)
	}
	return os.ReadFile(file)
}
