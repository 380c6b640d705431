package arch

import (
	"path"
	"strings"
)

// modulePath is the import path of the root package.
const modulePath = "github.com/fairlead/fairlead"

// lattice lists every package of the root module and what it may import of the
// module, lower layers first. A package that is not listed may not exist, and
// an import that is not listed is not allowed.
//
// Do not add an import just to get a build through. The absent ones ensure
// that:
//
//   - taints, lifecycle and cvo import neither each other nor solver nor
//     catalog, and so link nothing but the standard library (cvo also YAML and
//     semver), except that cvo/rollout imports lifecycle/drain, and that
//     cvo/plan and cvo/diagnosis combine cvo with lifecycle, catalog and solver;
//   - catalog does not import solver and solver does not import catalog: they
//     meet in solver/olm;
//   - programs that use only the solver do not link CEL, which is ten
//     megabytes;
//   - packages that only tests import stay out of every program.
//
// List a new package here in the change that adds it.
var lattice = map[string][]string{
	// Leaves.
	".":                  {"internal/decimal", "internal/words"},
	"internal/decimal":   {},
	"internal/durations": {},
	"internal/object":    {".", "internal/decimal", "internal/words"},
	"internal/deadlines": {"internal/binheap"},
	"internal/diagram":   {"internal/words"},
	"internal/semverx":   {"."},
	"internal/doc":       {".", "internal/words"},
	"internal/scene":     {".", "internal/doc"},
	"internal/archive":   {"."},
	"internal/arch":      {},
	"internal/golden":    {"."},
	"internal/binheap":   {},
	"internal/long":      {},
	"internal/mutate":    {"."},
	"internal/words":     {},
	"internal/cluster":   {".", "internal/object", "taints/placement", "internal/deadlines"},
	"internal/markdown":  {"internal/words"},
	"internal/shell":     {"internal/words"},
	"taints/placement":   {".", "internal/object"},

	"internal/samples":   {"catalog"},
	"internal/drainplay": {".", "internal/cluster", "lifecycle/drain", "taints/placement"},

	// Solving.
	"solver":      {"internal/diagram", "internal/words"},
	"solver/rule": {".", "internal/semverx", "internal/words"},

	// Catalogs.
	"catalog/internal/csv":     {"internal/doc"},
	"catalog/internal/inspect": {"internal/doc"},
	"catalog/internal/names":   {},
	"catalog/internal/cause":   {},
	"catalog/internal/look":    {},
	"catalog/internal/opm":     {"catalog/internal/names"},
	"catalog/internal/regular": {},
	"catalog/internal/shape":   {"catalog/internal/names", "internal/doc"},
	"catalog": {
		".", "catalog/internal/csv", "catalog/internal/inspect", "catalog/internal/look", "catalog/internal/names", "catalog/internal/regular", "catalog/internal/shape",
		"internal/doc", "internal/words", "internal/semverx",
	},
	"catalog/check": {
		"catalog", "catalog/internal/cause", "catalog/internal/csv", "catalog/internal/inspect", "catalog/internal/look", "catalog/internal/names", "catalog/internal/opm", "catalog/internal/shape",
		"internal/doc", "internal/words", "internal/semverx",
	},
	"catalog/diff": {"catalog", "catalog/internal/cause", "catalog/internal/look", "internal/doc", "internal/semverx", "internal/words"},
	"catalog/draw": {"catalog", "internal/diagram", "internal/semverx", "internal/words"},
	"catalog/edit": {
		"catalog", "catalog/check", "catalog/diff", "catalog/internal/csv", "catalog/internal/names", "catalog/internal/shape", "internal/doc", "internal/words",
		"internal/semverx",
	},
	"catalog/release":  {"catalog", "catalog/check", "catalog/diff", "catalog/edit", "catalog/internal/look", "internal/doc", "internal/markdown", "internal/semverx", "internal/words"},
	"catalog/bundle":   {".", "catalog", "catalog/internal/names", "catalog/internal/regular", "internal/doc", "internal/words", "internal/semverx"},
	"catalog/packages": {".", "catalog", "catalog/internal/csv", "internal/doc", "internal/semverx", "internal/words"},
	"catalog/serve":    {".", "catalog", "catalog/packages"},
	"catalog/source":   {".", "catalog", "internal/archive"},
	"catalog/template": {"catalog", "catalog/check", "internal/doc", "internal/words", "internal/semverx"},

	// The one place where catalogs and the solver meet.
	"solver/olm/config":   {".", "internal/object"},
	"solver/olm/group":    {".", "internal/object"},
	"solver/olm/resource": {".", "catalog", "solver/olm/config", "solver/olm/group"},
	"solver/olm": {".",
		"catalog", "internal/diagram", "internal/words", "internal/object", "internal/semverx", "solver", "solver/olm/config", "solver/olm/group", "solver/olm/resource",
		"solver/rule",
	},
	"solver/olm/crd":               {".", "internal/object", "internal/words"},
	"solver/olm/reach":             {"catalog", "internal/semverx", "solver/olm", "solver/olm/crd", "solver/rule"},
	"solver/olm/lock":              {"catalog", "internal/doc", "solver/olm", "internal/words"},
	"solver/olm/gate":              {".", "internal/object", "internal/semverx", "solver/olm/resource"},
	"solver/olm/removal":           {".", "internal/object", "solver/olm/resource"},
	"solver/olm/scope":             {".", "internal/object", "solver/olm/group", "solver/olm/internal/manifest"},
	"solver/olm/source":            {".", "internal/object", "internal/semverx", "solver/olm/resource"},
	"solver/olm/status":            {".", "catalog", "internal/object", "solver/olm/resource"},
	"solver/olm/internal/calls":    {"solver/olm"},
	"solver/olm/internal/manifest": {},
	"solver/olm/extension": {
		".", "catalog", "internal/cluster", "internal/durations", "internal/words", "solver/olm", "solver/olm/config", "solver/olm/crd", "solver/olm/group",
		"solver/olm/internal/calls", "solver/olm/internal/manifest", "solver/olm/resource", "solver/olm/scope",
	},
	"solver/olm/explain": {
		".", "catalog", "internal/shell", "internal/words", "solver/olm", "solver/olm/crd", "solver/olm/gate", "solver/olm/group", "solver/olm/removal", "solver/olm/resource", "solver/olm/source",
	},
	"solver/olm/install": {
		".", "internal/cluster", "internal/durations", "catalog", "catalog/bundle", "internal/object", "internal/semverx",
		"solver/olm", "solver/olm/config", "solver/olm/crd", "solver/olm/gate", "solver/olm/group", "solver/olm/internal/calls", "solver/olm/internal/manifest", "solver/olm/removal", "solver/olm/resource",
		"solver/olm/scope", "solver/olm/source", "solver/olm/status",
	},

	// Controllers.
	"lifecycle":       {".", "internal/cluster", "internal/durations", "internal/diagram", "internal/shell", "internal/words", "internal/object", "lifecycle/drain"},
	"lifecycle/drain": {".", "internal/cluster", "internal/durations", "internal/shell", "internal/words", "internal/object", "taints/placement"},
	"taints":          {".", "internal/decimal", "internal/shell", "internal/words", "internal/object"},
	"taints/eviction": {".", "internal/cluster", "internal/durations", "internal/object", "taints", "internal/words"},
	"taints/fleet":    {".", "internal/decimal", "taints"},
	"taints/whatif":   {".", "internal/binheap", "internal/diagram", "internal/durations", "internal/words", "internal/object", "taints/placement", "taints", "taints/eviction"},
	"cvo/graph":       {".", "internal/diagram", "internal/doc", "internal/binheap", "internal/words", "internal/object", "internal/semverx"},
	"cvo/payload":     {".", "internal/diagram", "internal/doc", "internal/binheap", "internal/words", "internal/object", "internal/semverx"},
	"cvo/rollout":     {".", "internal/cluster", "internal/durations", "internal/object", "internal/words", "lifecycle/drain"},
	"lifecycle/fleet": {".", "internal/durations", "internal/object", "lifecycle", "lifecycle/drain", "internal/words"},
	"lifecycle/quorum": {
		".", "internal/cluster", "internal/durations", "internal/object", "lifecycle", "internal/words",
	},
	"cvo": {
		".", "cvo/diagnosis/failure", "cvo/graph", "cvo/payload", "cvo/rollout", "internal/cluster", "internal/durations", "internal/object", "internal/semverx", "internal/shell", "internal/words",
	},

	"cvo/snapshot": {
		".", "cvo", "cvo/rollout", "internal/doc", "internal/object", "internal/shell", "internal/words", "lifecycle", "lifecycle/drain", "lifecycle/fleet", "solver/olm/crd", "solver/olm/gate", "solver/olm/group",
		"solver/olm/resource", "solver/olm/source", "taints/placement",
	},
	"cvo/plan": {
		".", "catalog", "cvo", "cvo/graph", "cvo/payload", "cvo/rollout", "cvo/snapshot", "internal/cluster", "internal/diagram", "internal/durations", "taints/placement", "internal/semverx", "internal/shell", "internal/words", "lifecycle", "lifecycle/drain", "lifecycle/quorum", "solver", "solver/olm", "solver/olm/gate", "solver/olm/group", "solver/olm/install", "solver/olm/resource",
	},
	"cvo/plan/fleet":        {".", "cvo/plan", "internal/words"},
	"cvo/diagnosis/failure": {"internal/shell"},
	"cvo/operators":         {"cvo/snapshot", "solver/olm/crd", "solver/olm/explain"},
	"cvo/diagnosis": {
		".", "cvo", "cvo/diagnosis/failure", "cvo/operators", "cvo/plan", "cvo/rollout", "cvo/snapshot", "internal/durations", "internal/object", "solver/olm/explain", "solver/olm/resource", "taints/eviction", "taints/placement", "internal/shell", "internal/words", "lifecycle", "lifecycle/drain", "lifecycle/fleet",
	},

	// Programs: the public packages, what they read their input with, and what
	// they share below examples/internal.
	"examples/*": {
		".", "catalog", "catalog/bundle", "catalog/check", "catalog/diff", "catalog/draw", "catalog/edit", "catalog/packages", "catalog/release", "catalog/serve", "catalog/source", "catalog/template", "cvo", "cvo/diagnosis", "cvo/graph", "cvo/operators", "cvo/payload", "cvo/plan", "cvo/plan/fleet", "cvo/rollout", "cvo/snapshot",
		"internal/archive", "internal/cluster", "internal/diagram", "internal/doc", "internal/scene", "internal/shell", "lifecycle", "lifecycle/drain", "lifecycle/fleet", "lifecycle/quorum", "solver", "solver/olm", "solver/olm/group",
		"solver/olm/config", "solver/olm/crd", "solver/olm/explain", "solver/olm/extension", "solver/olm/gate", "solver/olm/install", "solver/olm/lock", "solver/olm/reach", "solver/olm/removal",
		"solver/olm/resource", "solver/olm/scope", "solver/olm/source", "solver/olm/status", "solver/rule", "taints", "taints/eviction", "taints/fleet", "taints/placement", "taints/whatif", "internal/words",
	},
	"examples/fairlead": { // the tool, with a package for each verb
		"examples/fairlead/diagnose", "examples/fairlead/fbc", "examples/fairlead/fleet", "examples/fairlead/machine", "examples/fairlead/plan", "examples/fairlead/changes", "examples/fairlead/redact", "examples/fairlead/report", "examples/fairlead/resolve", "examples/fairlead/taint", "examples/fairlead/update",
	},
	"examples/internal/report": {
		"cvo/diagnosis",
		".", "catalog", "cvo", "cvo/plan", "cvo/rollout", "cvo/snapshot", "internal/diagram", "internal/object", "internal/semverx", "internal/shell", "internal/words", "lifecycle", "lifecycle/drain", "solver/olm", "solver/olm/source", "taints",
	},
	"examples/internal/sample": {".", "cvo", "cvo/plan", "lifecycle"}, // for their tests
	"examples/internal/script": {"internal/golden"},                   // likewise
}

// testOnly are the packages that exist for tests: no other code imports them.
var testOnly = []string{"examples/internal/sample", "examples/internal/script", "internal/arch", "internal/drainplay", "internal/golden", "internal/long", "internal/samples"}

// arrows returns what the package in dir may import; known is false when the
// lattice does not list it.
func arrows(dir string) (may []string, known bool) {
	may, known = lattice[dir]
	if !known && strings.HasPrefix(dir, "examples/") {
		may, known = lattice["examples/*"]
	}
	return may, known
}

// dependency is one direct requirement of the root module.
type dependency struct {
	path     string
	version  string
	importer string // the one package that imports it; "" means test files of any package
}

// dependencies are all direct requirements of the root module. Each is imported
// by one package, so that it can be replaced by editing that package.
var dependencies = []dependency{
	{"github.com/Masterminds/semver/v3", "v3.5.0", "internal/semverx"},
	{"github.com/go-air/gini", "v1.0.4", "solver"},
	{"github.com/google/cel-go", "v0.31.0", "solver/rule"},
	{"github.com/google/go-cmp", "v0.7.0", ""},
	{"gopkg.in/yaml.v3", "v3.0.1", "internal/doc"},
}

// dependencyOf returns the direct requirement that provides an import path.
func dependencyOf(importPath string) (dependency, bool) {
	for _, d := range dependencies {
		if importPath == d.path || strings.HasPrefix(importPath, d.path+"/") {
			return d, true
		}
	}
	return dependency{}, false
}

// goVersion is what every go.mod states. Naming a patch release would force it
// on every user.
const goVersion = "1.26.0"

// goVersions lists the modules, by directory, that must state another version.
// Only modules that no other module requires may be listed: the comparison with
// operator-registry and the catalog service of the end-to-end tests need the
// version that operator-registry needs.
var goVersions = map[string]string{"internal/bench": "1.26.3", "examples/kubernetes/e2e/parts": "1.26.3"}

// purity says what the core files of a package may not touch.
type purity int

const (
	edge purity = iota // not a core: may do anything
	calm               // no clock, files, network, log or randomness; may take a context and lock
	pure               // calm, and without contexts, locks and goroutines: plain values in and out
)

// cores lists the packages with a deterministic core. Packages that are not
// listed have none.
var cores = map[string]purity{
	"catalog":               calm,
	"catalog/bundle":        calm,
	"catalog/check":         calm,
	"catalog/diff":          calm,
	"catalog/draw":          calm,
	"catalog/edit":          calm,
	"catalog/release":       calm,
	"catalog/template":      calm,
	"internal/archive":      calm,
	"internal/diagram":      calm,
	"internal/doc":          calm,
	"internal/scene":        calm,
	"internal/words":        pure,
	"internal/semverx":      calm,
	"solver":                calm,
	"solver/olm":            calm,
	"solver/rule":           calm,
	"cvo":                   pure,
	"cvo/graph":             calm,
	"cvo/payload":           pure,
	"cvo/plan":              calm,
	"cvo/plan/fleet":        calm,
	"cvo/operators":         pure,
	"cvo/diagnosis":         calm,
	"cvo/diagnosis/failure": calm,
	"cvo/rollout":           pure,
	"internal/object":       pure,
	"taints/placement":      pure,
	"internal/deadlines":    pure,
	"lifecycle":             pure,
	"lifecycle/drain":       pure,
	"lifecycle/fleet":       pure,
	"lifecycle/quorum":      pure,
	"solver/olm/config":     pure,
	"solver/olm/crd":        pure,
	"solver/olm/gate":       pure,
	"solver/olm/group":      pure,
	"solver/olm/lock":       calm,
	"solver/olm/reach":      calm,
	"solver/olm/removal":    pure,
	"solver/olm/scope":      pure,
	"solver/olm/source":     pure,
	"solver/olm/status":     pure,
	"solver/olm/install":    pure,

	"solver/olm/extension": pure,
	"solver/olm/explain":   pure,

	"taints":          pure,
	"taints/eviction": pure,
	"taints/fleet":    calm,
	"taints/whatif":   pure,
}

// clockFiles are the files that may read the machine's clock: SystemClock does
// so for all other code, and CheckStore does not trust the store that it
// checks.
var clockFiles = []string{"clock.go", "check.go"}

// core returns how pure a file must be. In a package with a core, every file
// belongs to it, except tests and the files of the runner: run.go and run_*.go,
// which also contain the other code on the runner's side, such as the Backend
// interface (which takes a context) and in-memory backends.
func (f *File) core() purity {
	base := path.Base(f.Path)
	if f.Nested || f.Test || base == "run.go" || strings.HasPrefix(base, "run_") {
		return edge
	}
	return cores[f.Dir]
}
