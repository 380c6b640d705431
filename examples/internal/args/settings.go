package args

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// Settings are the flags of a program that users would otherwise repeat every day: an
// environment variable or a file can also set them. The command line overrides the
// environment, and the environment overrides the file; the first that sets a flag sets
// all of its values.
type Settings struct {
	List   []Setting           // in the order in which help lists them
	Getenv func(string) string // the environment; nil: nothing is set, and there is no file
}

// Setting is a flag of Settings, in all commands that name it in Configured.
type Setting struct {
	Flag    string   // its name, which is also the key of the file
	About   string   // which commands take it, and what it means
	Many    bool     // it can be given several times
	Example []string // values of an example; one unless Many
}

// The environment variables.
const (
	variables    = "FAIRLEAD_"
	fileVariable = variables + "CONFIG"
)

// variable returns the environment variable that sets a flag.
func variable(flag string) string {
	return variables + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// given is what the environment or the file sets for a flag.
type given struct {
	Flag   string   `json:"flag"`
	Values []string `json:"values,omitempty"`
	From   string   `json:"from,omitempty"` // a variable, or a place in the file
}

// path returns the path of the file, "" for none, and whether the environment names it.
func (s *Settings) path() (name string, named bool) {
	if name := s.Getenv(fileVariable); name != "" {
		return name, true
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false // there is no such directory, and so no file
	}
	return filepath.Join(dir, "fairlead", "config.yaml"), false
}

// read returns what the environment and the file set, one element for each setting.
func (s *Settings) read() ([]given, error) {
	all := make([]given, len(s.List))
	for i := range s.List {
		all[i].Flag = s.List[i].Flag
	}
	if s.Getenv == nil {
		return all, nil
	}
	if err := s.readFile(all); err != nil {
		return nil, err
	}
	for i, x := range s.List {
		text := s.Getenv(variable(x.Flag))
		if text == "" {
			continue
		}
		all[i].Values, all[i].From = []string{text}, variable(x.Flag)
		if x.Many {
			all[i].Values = filepath.SplitList(text)
		}
	}
	return all, nil
}

// readFile reads the settings of the file.
func (s *Settings) readFile(into []given) error {
	name, named := s.path()
	if name == "" {
		return nil
	}
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return nil
	case err != nil && named:
		return fmt.Errorf("%s: %w", fileVariable, err)
	case err != nil:
		return err
	}
	r := doc.NewReader(bytes.NewReader(text), name, doc.Limits{})
	d, err := r.Next()
	if err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	at := func(offset int) string { return d.Position(offset).String() }
	top := doc.Tree(d.JSON)
	var keys []string
	for i := range s.List {
		keys = append(keys, s.List[i].Flag)
	}
	for i := range top.Members {
		m := &top.Members[i]
		k := slices.Index(keys, m.Key)
		if k < 0 {
			hint := "the keys are " + words.List(keys, "and", len(keys))
			if near := words.Nearest(m.Key, keys); near != "" {
				hint = "did you mean " + near + "?"
			}
			return fmt.Errorf("%s: unknown setting %q; %s", at(m.KeyOffset), m.Key, hint)
		}
		into[k].From = at(m.KeyOffset)
		list := []doc.Value{*m}
		if m.Kind == '[' && s.List[k].Many {
			list = m.Members
		}
		for i := range list {
			text, ok := list[i].Scalar()
			if !ok {
				return fmt.Errorf("%s: %s is text%s, not %s", at(list[i].Offset), m.Key, map[bool]string{true: ", or a list of texts"}[s.List[k].Many], list[i].Describe())
			}
			into[k].Values = append(into[k].Values, text)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		return fmt.Errorf("%s: it contains more than one document; write all settings in one", name)
	}
	return nil
}

// configure sets the flags that the command line does not set.
func (c *Call) configure() error {
	c.given = map[string]bool{}
	c.Flags.Visit(func(f *flag.Flag) { c.given[f.Name] = true })
	if c.settings == nil || len(c.configured) == 0 {
		return nil
	}
	all, err := c.settings.read()
	if err != nil {
		return err
	}
	for _, g := range all {
		if c.given[g.Flag] || !slices.Contains(c.configured, g.Flag) {
			continue
		}
		for _, v := range g.Values {
			if err := c.Flags.Lookup(g.Flag).Value.Set(v); err != nil {
				return fmt.Errorf("%s: -%s: %w", g.From, g.Flag, err)
			}
		}
	}
	return nil
}

// Given reports whether the command line sets a flag; its value may also come from
// Settings. Parse must be called first.
func (c *Call) Given(flag string) bool { return c.given[flag] }

// Command is a command that prints the settings and where each one is set.
func (s *Settings) Command() *Command {
	var help strings.Builder
	help.WriteString("Flags that you repeat every day can be set by an environment variable or in a file:\n\n")
	for _, x := range s.List {
		words.Fprintf(&help, "  -%-8s  %-17s  %s\n", x.Flag, variable(x.Flag), words.Text(x.About))
	}
	help.WriteString(`
The command line overrides the variable, and the variable overrides the file; all values of a flag
come from one of them. Separate several values of a variable as in PATH: by ":", on Windows by ";".
The file is ` + fileVariable + `, or else fairlead/config.yaml in the configuration directory of
the system (~/.config, ~/Library/Application Support, %AppData%). For example:

`)
	for _, x := range s.List {
		if !x.Many {
			words.Fprintf(&help, "  %s: %s\n", x.Flag, x.Example[0])
			continue
		}
		words.Fprintf(&help, "  %s:\n", x.Flag)
		for _, v := range x.Example {
			words.Fprintf(&help, "  - %s\n", v)
		}
	}
	return &Command{
		Name: "config", Usage: "[-o text|json|yaml]", About: "show which flags are set by the environment or the configuration file, and where",
		Help: help.String(), Run: s.tell,
	}
}

// tell prints the settings.
func (s *Settings) tell(c *Call) error {
	format := c.Choice("o", "text", "json")
	if err := c.Parse(0, 0); err != nil {
		return err
	}
	all, err := s.read()
	if err != nil {
		return err
	}
	file := ""
	if s.Getenv != nil {
		file, _ = s.path()
	}
	if *format == "json" {
		return c.JSON(struct {
			File     string  `json:"file,omitempty"` // where it is, or would be
			Settings []given `json:"settings"`
		}{file, all})
	}
	words.Fprintf(c.Stdout, "file: %s\n", file)
	for _, g := range all {
		if g.From == "" {
			words.Fprintf(c.Stdout, "-%s: not set\n", g.Flag)
			continue
		}
		for _, v := range g.Values {
			words.Fprintf(c.Stdout, "-%s %s  (%s)\n", g.Flag, v, g.From)
		}
	}
	return nil
}
