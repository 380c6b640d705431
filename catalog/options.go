package catalog

import (
	"runtime"

	"github.com/fairlead/fairlead/internal/doc"
)

// Options limit and tune reading. Nil and the zero value mean the defaults.
type Options struct {
	// Workers is how many files are read at once. Default GOMAXPROCS. The
	// result does not depend on it.
	Workers int
	// MaxDocumentSize is the largest document in bytes. Default 16 MiB. Each
	// worker holds one window, which grows to the largest document it reads.
	MaxDocumentSize int
	// MaxDepth is the deepest nesting of a document. Default 1,000.
	MaxDepth int
	// MaxYAMLNodes is the largest number of values in one YAML document, with
	// aliases expanded. Default 262,144, for which the YAML parser takes about
	// 100 MB.
	MaxYAMLNodes int
	// MaxDocuments is the largest number of documents in a catalog. Default
	// 1,048,576.
	MaxDocuments int
	// MaxFiles is the largest number of files in a catalog. Default 1,048,576.
	MaxFiles int
}

// withDefaults returns a copy with every field set.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.MaxDocuments <= 0 {
		c.MaxDocuments = 1 << 20
	}
	if c.MaxFiles <= 0 {
		c.MaxFiles = 1 << 20
	}
	return c
}

func (o *Options) limits() doc.Limits {
	return doc.Limits{Size: o.MaxDocumentSize, Depth: o.MaxDepth, Nodes: o.MaxYAMLNodes}
}
