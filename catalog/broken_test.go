package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/long"
)

// breakages are ways in which one document becomes unreadable. Each gets the
// line of a good document and returns it broken, or "" where it does not apply.
var breakages = map[string]func(line string) string{
	"a name that is a number": func(line string) string {
		i := strings.LastIndex(line, `"name":"`)
		if strings.Contains(line, "olm.deprecations") || strings.Contains(line, "olm.channel") || strings.Contains(line, "olm.bundle") || i < 0 {
			return ""
		}
		j := i + len(`"name":"`)
		return line[:i] + `"name":1.10` + line[j+strings.IndexByte(line[j:], '"')+1:]
	},
	"cut off":          func(line string) string { return line[:len(line)-1] },
	"a comma too many": func(line string) string { return line[:len(line)-1] + ",}" },
	"a list where text belongs": func(line string) string {
		return strings.Replace(strings.Replace(line, `"defaultChannel":"`, `"defaultChannel":["x"],"d":"`, 1), `"image":"r.io/`, `"image":[],"i":"r.io/`, 1)
	},
}

// TestOneFaultOneFinding: a document that cannot be read is one finding, and
// nothing is said that follows from its absence.
func TestOneFaultOneFinding(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for name, change := range breakages {
		total, one := 0, 0
		for range long.N(60, 5_000) {
			lines := strings.Split(strings.TrimSpace(newSynth(r).text()), "\n")
			i := r.IntN(len(lines))
			was := lines[i]
			if lines[i] = change(was); lines[i] == "" || lines[i] == was {
				continue
			}
			files := fstest.MapFS{}
			if r.IntN(2) == 0 {
				files["catalog.json"] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n"))}
			} else {
				for k, line := range lines {
					files[fmt.Sprintf("%02d.json", k)] = &fstest.MapFile{Data: []byte(line)}
				}
			}
			_, report, err := check.Open(t.Context(), files, nil)
			if err != nil {
				t.Fatal(err)
			}
			total++
			found := report.Findings()
			switch {
			case len(found) == 0:
				t.Fatalf("%s: nothing is found\n%s", name, lines[i])
			case len(found) == 1:
				one++
			default:
				t.Logf("%s: %s\n%s", name, lines[i], found)
			}
			switch found[0].Code {
			case catalog.CodeSyntax, catalog.CodeType:
			default:
				t.Errorf("%s: the first finding is %s", name, found[0])
			}
		}
		if total == 0 || one*10 < total*9 {
			t.Errorf("%s: %d of %d mutants have one finding", name, one, total)
		}
	}
}

// TestRepeatedKeys: a key that is given again changes nothing but that it is told, in
// whatever format; and what is written has it once.
func TestRepeatedKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for range long.N(40, 5_000) {
		s := newSynth(r)
		c := openText(t, s.text())
		keys := []string{`"name":`, `"package":`, `"schema":`, `"image":`, `"version":`, `"entries":`}
		for _, format := range formats {
			text, key := inFormat(t, c, format), keys[r.IntN(len(keys))]
			if format == catalog.FormatYAML {
				continue
			}
			again := strings.ReplaceAll(text, key, key+` {"typo": [1], "typo": "2"}, `+key)
			twice, report, err := check.Open(t.Context(), fstest.MapFS{"c": {Data: []byte(again)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, once, err := check.Open(t.Context(), fstest.MapFS{"c": {Data: []byte(text)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if report.Valid() != once.Valid() || report.OPM() != once.OPM() || len(report.Warnings()) == 0 && again != text {
				t.Fatalf("%s: %v, %v\n%s", key, report.Err(), report.Warnings(), again)
			}
			for _, format := range formats {
				if inFormat(t, twice, format) != inFormat(t, c, format) && format != catalog.FormatYAML {
					t.Fatalf("%s: it is written\n%s\ninstead of\n%s", key, inFormat(t, twice, format), inFormat(t, c, format))
				}
			}
		}
	}
}
