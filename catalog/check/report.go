package check

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// WriteText writes one line for each finding, errors before warnings, and a summary
// line. At most that many warnings of one code are listed, and a line counts the
// others; 0 lists all.
func (r *Report) WriteText(w io.Writer, most int) error {
	var b bytes.Buffer
	for _, d := range r.findings {
		fmt.Fprintf(&b, "%s [%s]\n", d.Error(), d.Code)
	}
	var codes []catalog.Code // with more warnings than are listed
	count := map[catalog.Code]int{}
	for _, d := range r.warnings {
		count[d.Code]++
		switch n := count[d.Code]; {
		case most <= 0 || n <= most:
			fmt.Fprintf(&b, "%s [warning: %s]\n", d.Error(), d.Code)
		case n == most+1:
			codes = append(codes, d.Code)
		}
	}
	for _, code := range codes {
		fmt.Fprintf(&b, "and %s [warning: %s]\n", words.Count(count[code]-most, "more finding", "more findings"), code)
	}
	switch errors, warnings := len(r.findings), len(r.warnings); {
	case errors == 0 && warnings == 0:
		fmt.Fprintf(&b, "valid: %s\n", r.counts)
	case warnings == 0:
		fmt.Fprintf(&b, "not valid: %s%s\n", words.Count(errors, "finding", "findings"), r.counts.in())
	case errors == 0:
		fmt.Fprintf(&b, "valid, with %s: %s\n", words.Count(warnings, "warning", "warnings"), r.counts)
	default:
		fmt.Fprintf(&b, "not valid: %s, and %s%s\n", words.Count(errors, "finding", "findings"), words.Count(warnings, "warning", "warnings"), r.counts.in())
	}
	_, err := w.Write(b.Bytes())
	return err
}

// String returns the counts in words.
func (c Counts) String() string {
	if c == (Counts{}) {
		return "nothing in it; is it the right directory?"
	}
	return words.Count(c.Packages, "package", "packages") + ", " + words.Count(c.Channels, "channel", "channels") + ", " + words.Count(c.Bundles, "bundle", "bundles")
}

func (c Counts) in() string {
	if c == (Counts{}) {
		return ""
	}
	return " in " + c.String()
}

// WriteJSON writes the report as one JSON object with the members valid,
// counts, findings and warnings.
func (r *Report) WriteJSON(w io.Writer) error {
	return doc.WriteIndented(w, struct {
		Valid    bool                `json:"valid"`
		Counts   Counts              `json:"counts"`
		Findings catalog.Diagnostics `json:"findings"`
		Warnings catalog.Diagnostics `json:"warnings,omitempty"`
	}{r.Valid(), r.counts, append(catalog.Diagnostics{}, r.findings...), r.warnings})
}

// The parts of SARIF, the OASIS format for the results of static analysis,
// version 2.1.0, that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID catalog.Code `json:"id"`
	}
	sarifResult struct {
		RuleID    catalog.Code    `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

// Relocate returns the report with the positions that [catalog.Relocate] makes, for writing
// it.
func (r *Report) Relocate(file func(path string) string) *Report {
	moved := *r
	moved.findings, moved.hidden, moved.warnings = catalog.Relocate(r.findings, file), catalog.Relocate(r.hidden, file), catalog.Relocate(r.warnings, file)
	return &moved
}

// WriteGitHub writes the report as commands of GitHub Actions, which shows the findings
// beside the affected lines of a pull request.
func (r *Report) WriteGitHub(w io.Writer) error { return WriteGitHub(w, r.findings, r.warnings) }

// WriteGitHub writes findings of any kind as [Report.WriteGitHub] does.
func WriteGitHub(w io.Writer, errors, warnings catalog.Diagnostics) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b bytes.Buffer
	add := func(level string, list catalog.Diagnostics) {
		for _, d := range list {
			b.WriteString("::" + level + " ")
			if d.Pos.File != "" {
				fmt.Fprintf(&b, "file=%s,", property.Replace(d.Pos.File))
			}
			if d.Pos.Line > 0 {
				fmt.Fprintf(&b, "line=%d,col=%d,", d.Pos.Line, d.Pos.Column)
			}
			fmt.Fprintf(&b, "title=%s::%s\n", property.Replace(string(d.Code)), data.Replace(words.Visible(withoutPlace(d))))
		}
	}
	add("error", errors)
	add("warning", warnings)
	_, err := w.Write(b.Bytes())
	return err
}

// WriteSARIF writes the report as SARIF 2.1.0, which code hosts show beside the
// affected lines. Paths of files are relative to the root of the catalog, unless
// [Report.Relocate] changed them.
func (r *Report) WriteSARIF(w io.Writer) error { return WriteSARIF(w, r.findings, r.warnings) }

// WriteSARIF writes findings of any kind as [Report.WriteSARIF] does.
func WriteSARIF(w io.Writer, errors, warnings catalog.Diagnostics) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "fairlead catalog", Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
	index := map[catalog.Code]int{}
	add := func(level string, list catalog.Diagnostics) {
		for _, d := range list {
			i, known := index[d.Code]
			if !known {
				i = len(run.Tool.Driver.Rules)
				index[d.Code] = i
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{d.Code})
			}
			run.Results = append(run.Results, sarifResult{d.Code, i, level, sarifText{withoutPlace(d)}, locations(d)})
		}
	}
	add("error", errors)
	add("warning", warnings)
	return doc.WriteIndented(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

// withoutPlace returns a finding without its position.
func withoutPlace(d *catalog.Diagnostic) string {
	return (&catalog.Diagnostic{Subject: d.Subject, Message: d.Message, Also: d.Also, Hint: d.Hint}).Error()[len("-: "):]
}

func locations(d *catalog.Diagnostic) []sarifLocation {
	if d.Pos.File == "" {
		return []sarifLocation{}
	}
	p := sarifPhysical{Artifact: sarifArtifact{uriPath(d.Pos.File)}}
	if d.Pos.Line > 0 {
		p.Region = &sarifRegion{d.Pos.Line, d.Pos.Column}
	}
	return []sarifLocation{{p}}
}

// uriPath returns a path as a relative reference.
func uriPath(path string) string {
	return (&url.URL{Path: path}).String()
}
