package args

import (
	"fmt"
	"runtime/debug"

	"github.com/fairlead/fairlead/internal/words"
)

// Version is a command that reports what the program was built from.
func Version() *Command {
	return &Command{
		Name: "version", Usage: "[-o text|json|yaml]", About: "show the version, the commit and the Go version of this build",
		Run: func(c *Call) error {
			format := c.Choice("o", "text", "json")
			if err := c.Parse(0, 0); err != nil {
				return err
			}
			built, ok := debug.ReadBuildInfo()
			if !ok {
				return fmt.Errorf("this program was built without build information")
			}
			v := struct {
				Version  string `json:"version"`
				Commit   string `json:"commit,omitempty"`
				Time     string `json:"time,omitempty"` // of the commit
				Modified bool   `json:"modified,omitempty"`
				Go       string `json:"go"`
			}{Version: built.Main.Version, Go: built.GoVersion}
			for _, s := range built.Settings {
				switch s.Key {
				case "vcs.revision":
					v.Commit = s.Value
				case "vcs.time":
					v.Time = s.Value
				case "vcs.modified":
					v.Modified = s.Value == "true"
				}
			}
			if *format == "json" {
				return c.JSON(v)
			}
			words.Fprintf(c.Stdout, "version  %s\n", v.Version)
			if v.Commit != "" {
				text := v.Commit + " of " + v.Time
				if v.Modified {
					text += ", with uncommitted changes"
				}
				words.Fprintf(c.Stdout, "commit   %s\n", text)
			}
			words.Fprintf(c.Stdout, "go       %s\n", v.Go)
			return nil
		},
	}
}
