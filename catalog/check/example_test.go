package check_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/check"
)

// A report holds everything that is wrong, each finding with its place and the
// way out.
func ExampleOpen() {
	fsys := fstest.MapFS{"etcd/catalog.yaml": {Data: []byte(`
schema: olm.package
name: etcd
defaultChannel: stabel
---
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v1.0.0
- name: etcd.v1.1.0
  skipRange: ">=1.0.0,<1.1.0"
---
{"schema": "olm.bundle", "package": "etcd", "name": "etcd.v1.0.0", "image": "quay.io/etcd/bundle:1.0.0",
 "properties": [{"type": "olm.package", "value": {"packageName": "etcd", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "etcd", "name": "etcd.v1.1.0", "image": "quay.io/etcd/bundle@",
 "properties": [{"type": "olm.package", "value": {"packageName": "etcd", "version": "1.1.0"}}]}
`)}}
	_, report, err := check.Open(context.Background(), fsys, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range report.Findings() {
		fmt.Printf("%s %s\n  %s\n  %s\n", d.Pos, d.Code, d.Message, d.Hint)
	}
	// Output:
	// etcd/catalog.yaml:4:17 default-channel
	//   its default channel "stabel" is not one of its channels
	//   write "stable"
	// etcd/catalog.yaml:11:3 multiple-heads
	//   it has 2 heads, entries that no other replaces or skips: etcd.v1.0.0, etcd.v1.1.0; etcd.v1.1.0 replaces nothing, and its skipRange does not make it the only head
	//   make etcd.v1.1.0 replace etcd.v1.0.0, or add etcd.v1.0.0 to the skips of etcd.v1.1.0
	// etcd/catalog.yaml:12:14 skip-range
	//   the skipRange of "etcd.v1.1.0" is not a range of versions: "1.0.0,<1.1.0" is not a version: has 5 of the three numbers MAJOR.MINOR.PATCH
	//   separate comparisons with a space, not with a comma
	// etcd/catalog.yaml:16:77 image
	//   image "quay.io/etcd/bundle@" is not an image reference: the digest "" is malformed
	//   write @sha256: and 64 hex digits, or leave out the @
}

// Programs that read the output of opm validate can go on doing so.
func ExampleReport_OPM() {
	fsys := fstest.MapFS{"etcd.json": {Data: []byte(`{"schema": "olm.package", "name": "etcd"}`)}}
	_, report, err := check.Open(context.Background(), fsys, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report.OPM())
	// Output:
	// invalid index:
	// └── invalid package "etcd":
	//     ├── default channel must be set
	//     └── package must contain at least one channel
}

func ExampleReport_WriteText() {
	fsys := fstest.MapFS{"etcd.json": {Data: []byte(`{"schema": "olm.package", "name": "etcd"}`)}}
	_, report, err := check.Open(context.Background(), fsys, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := report.WriteText(os.Stdout, 0); err != nil {
		fmt.Println(err)
	}
	// Output:
	// etcd.json:1:35: package "etcd": it has no channel; add an olm.channel document of the package [no-channel]
	// not valid: 1 finding in 1 package, 0 channels, 0 bundles
}

// Lints find what is allowed but likely a mistake.
func ExampleLint() {
	fsys := fstest.MapFS{"etcd.yaml": {Data: []byte(`
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v1.0.0
  replaces: etcd.v1.1.0
- name: etcd.v1.1.0
---
schema: olm.bundle
package: etcd
name: etcd.v1.0.0
image: quay.io/etcd/bundle:1.0.0
properties:
- type: olm.package
  value: {packageName: etcd, version: 1.0.0}
---
schema: olm.bundle
package: etcd
name: etcd.v1.1.0
image: quay.io/etcd/bundle:1.1.0
properties:
- type: olm.package
  value: {packageName: etcd, version: 1.1.0}
`)}}
	c, report, err := check.Open(context.Background(), fsys, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("valid:", report.Valid())
	lints, err := check.Lint(context.Background(), c, check.LintDowngrade, check.LintUpdateCycle)
	fmt.Println(lints.Err(), err)
	// Output:
	// valid: true
	// etcd.yaml:10:3: package "etcd", channel "stable": it leads from "etcd.v1.1.0" down to "etcd.v1.0.0", by replaces; reverse the edge, or remove it <nil>
}
