package olm

import (
	"fmt"

	"github.com/fairlead/fairlead/catalog"
)

// Source is a catalog as a cluster sees it.
type Source struct {
	SourceKey
	// Priority decides between catalogs that offer the same; higher is
	// preferred. Zero is the default.
	Priority int
	// Catalog is its content. It may be nil if Err is set.
	Catalog *catalog.Catalog
	// Labels are for selecting catalogs; see Extension.Catalogs.
	Labels map[string]string
	// Disabled excludes the catalog from every resolution.
	Disabled bool
	// Err says why the catalog cannot be used at present. Such a source fails
	// every resolution that it is visible to; see Options.TolerateUnhealthy.
	Err error
}

// SourceError reports that a catalog that a resolution depends on is not
// usable.
type SourceError struct {
	Source SourceKey // the catalog
	Err    error     // why it cannot be used
}

// Error names the catalog and gives the cause.
func (e *SourceError) Error() string {
	return fmt.Sprintf("error using catalogsource %s: %v", e.Source, e.Err)
}

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }
