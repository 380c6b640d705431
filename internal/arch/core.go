package arch

import (
	"go/ast"
	"slices"
	"strings"
)

// clockReads are the functions and variables of package time that read or wait
// for the machine's clock or its zone.
var clockReads = []string{
	"After", "AfterFunc", "Local", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
}

// contextClocks are the functions of package context that do so.
var contextClocks = []string{"WithDeadline", "WithDeadlineCause", "WithTimeout", "WithTimeoutCause"}

// coreClock checks that core files take the time as an argument.
func coreClock(t *Tree) []Finding {
	var found []Finding
	eachCore(t, func(f *File) {
		for sel, pkg := range selections(f) {
			name := sel.Sel.Name
			if pkg == "time" && slices.Contains(clockReads, name) || pkg == "context" && slices.Contains(contextClocks, name) {
				found = append(found, t.at(f, sel, "core file reads the clock (%s.%s): take the time as an argument, or move this to run.go", pkg, name))
			}
		}
	})
	return found
}

// runnerClock checks that code outside the cores reads the time from a Clock,
// so that it can be simulated. Programs may read the machine's clock.
func runnerClock(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.sources() {
		if f.core() != edge || strings.HasPrefix(f.Dir, "examples/") || slices.Contains(clockFiles, f.Path) {
			continue
		}
		for sel, pkg := range selections(f) {
			if pkg == "time" && slices.Contains(clockReads, sel.Sel.Name) {
				found = append(found, t.at(f, sel, "reads the machine's clock (time.%s): use a fairlead.Clock, whose default is SystemClock, and wait with SleepUntil", sel.Sel.Name))
			}
		}
	}
	return found
}

// forbidden maps the packages that no core file may import, and neither any
// package below them, to the reason.
var forbidden = map[string]string{
	"crypto/rand":   "a core's answer depends on its arguments alone",
	"flag":          "programs parse flags",
	"io/ioutil":     "input comes as fs.FS, io.Reader or bytes",
	"log":           "cores do not log: return it, or offer a hook in a Trace",
	"math/rand":     "a core's answer depends on its arguments alone",
	"net":           "cores do not use the network",
	"os":            "input comes as fs.FS, io.Reader or bytes",
	"path/filepath": "paths in a core are slash-separated on every system: use path",
	"plugin":        "cores load no code",
	"syscall":       "input comes as fs.FS, io.Reader or bytes",
	"testing":       "it is only for tests",
	"unsafe":        "no core needs it",
}

// harmless are the packages below a forbidden one that only define plain
// values.
var harmless = []string{"net/netip", "net/url"}

// impure maps the packages that files of a pure core also may not import to the
// reason.
var impure = map[string]string{
	"context":     "a pure step is too short to be cancelled",
	"sync":        "a pure step shares nothing",
	"sync/atomic": "a pure step shares nothing",
}

// coreImports checks that core files import nothing that reaches the machine.
func coreImports(t *Tree) []Finding {
	var found []Finding
	eachCore(t, func(f *File) {
		for _, spec := range f.AST.Imports {
			p := importPath(spec)
			why, bad := forbidden[p]
			for parent := range forbidden {
				if strings.HasPrefix(p, parent+"/") && !slices.Contains(harmless, p) {
					why, bad = forbidden[parent], true
				}
			}
			if !bad && f.core() == pure {
				why, bad = impure[p]
			}
			if bad {
				found = append(found, t.at(f, spec, "core file imports %s: %s", p, why))
			}
		}
	})
	return found
}

// coreEffects checks that core files print nothing and that pure ones start no
// goroutine.
func coreEffects(t *Tree) []Finding {
	var found []Finding
	eachCore(t, func(f *File) {
		for sel, pkg := range selections(f) {
			if pkg == "fmt" && strings.HasPrefix(sel.Sel.Name, "Print") {
				found = append(found, t.at(f, sel, "core file prints (fmt.%s): return a value, or write to an io.Writer that the caller passes", sel.Sel.Name))
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if f.core() == pure {
					found = append(found, t.at(f, n, "pure core starts a goroutine: goroutines belong to the caller or to run.go"))
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
					found = append(found, t.at(f, n, "core file prints (%s): return a value", id.Name))
				}
			}
			return true
		})
	})
	return found
}

func eachCore(t *Tree, visit func(*File)) {
	for _, f := range t.Go {
		if f.core() != edge {
			visit(f)
		}
	}
}

// selections yields every qualified identifier of the file with the path of the
// import that its package name refers to.
func selections(f *File) func(yield func(*ast.SelectorExpr, string) bool) {
	imports := map[string]string{}
	for _, spec := range f.AST.Imports {
		imports[localName(spec)] = importPath(spec)
	}
	return func(yield func(*ast.SelectorExpr, string) bool) {
		stopped := false
		ast.Inspect(f.AST, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || stopped {
				return !stopped
			}
			if id, ok := sel.X.(*ast.Ident); ok {
				if p, ok := imports[id.Name]; ok && !yield(sel, p) {
					stopped = true
				}
			}
			return true
		})
	}
}
