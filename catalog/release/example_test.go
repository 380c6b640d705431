package release_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/release"
)

// kiln is a package with one channel, whose entries are given as YAML.
func kiln(entries string, versions ...string) fstest.MapFS {
	text := "schema: olm.package\nname: kiln\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: kiln\nname: stable\nentries:\n" + entries
	for _, v := range versions {
		text += "---\n" + fmt.Sprintf(`{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v%s", "image": "registry.example/kiln:%[1]s", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "%[1]s"}}]}`, v) + "\n"
	}
	return fstest.MapFS{"kiln.yaml": {Data: []byte(text)}}
}

// OLM v0 never installs a bundle that is skipped, so who has 1.0.0 is stuck.
func ExampleEvaluate() {
	before, err := catalog.Open(context.Background(), kiln("- name: kiln.v1.0.0\n- name: kiln.v1.1.0\n  replaces: kiln.v1.0.0\n", "1.0.0", "1.1.0"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	after := kiln("- name: kiln.v1.1.0\n  replaces: kiln.v1.0.0\n- name: kiln.v1.2.0\n  skips: [kiln.v1.1.0]\n", "1.1.0", "1.2.0")
	report, err := release.Evaluate(context.Background(), before, after, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("passes:", report.Passes(), "users:", report.Users)
	for _, d := range report.Findings {
		fmt.Println(d.Pos, d.Code)
	}
	for _, f := range report.Fixes {
		fmt.Printf("it would help if %s skipped %v\n", f.Entry, f.Skips)
	}
	// Output:
	// passes: false users: 2
	// kiln.yaml:5:1 stranded-users
	// it would help if kiln.v1.2.0 skipped [kiln.v1.0.0]
}

func ExampleReport_WriteMarkdown() {
	before, err := catalog.Open(context.Background(), kiln("- name: kiln.v1.0.0\n", "1.0.0"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	after := kiln("- name: kiln.v1.0.0\n- name: kiln.v1.1.0\n  replaces: kiln.v1.0.0\n", "1.0.0", "1.1.0")
	report, err := release.Evaluate(context.Background(), before, after, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := report.WriteMarkdown(os.Stdout, after); err != nil {
		fmt.Println(err)
	}
	// Output:
	// **Passes.** Of 1 version that users may have, each still leads to the head of its channel, by the rules of OLM v0 and v1.
	//
	// <details><summary>What changed</summary>
	//
	// ```
	// ~ package kiln
	//   ~ channel stable: head kiln.v1.1.0, was kiln.v1.0.0
	//     + entry kiln.v1.1.0
	//     + update kiln.v1.0.0 -> kiln.v1.1.0 (replaces)
	//   + bundle kiln.v1.1.0
	// ```
	// </details>
}
