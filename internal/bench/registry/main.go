package main

import (
	"context"
	"fmt"
	"os"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

func main() {
	bad := 0
	for _, dir := range os.Args[1:] {
		cfg, err := declcfg.LoadFS(context.Background(), os.DirFS(dir))
		if err == nil {
			_, err = declcfg.ConvertToModel(*cfg)
		}
		if err != nil {
			bad = 1
			fmt.Printf("%s\tinvalid\t%.200v\n", dir, err)
		} else {
			fmt.Printf("%s\tvalid\n", dir)
		}
	}
	os.Exit(bad)
}
