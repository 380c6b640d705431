package resource

// PackageManifest is what a catalog offers of a package, as OLM's package server shows it
// (packages.operators.coreos.com). Its name is the package's.
type PackageManifest struct {
	ObjectMeta `json:"metadata"`
	Status     PackageStatus `json:"status"` // what there is
}

// PackageStatus is the part of a PackageManifest that is read.
type PackageStatus struct {
	CatalogSource          string           `json:"catalogSource"`          // name of the catalog
	CatalogSourceNamespace string           `json:"catalogSourceNamespace"` // where the catalog is
	Channels               []PackageChannel `json:"channels"`               // by name
	DefaultChannel         string           `json:"defaultChannel"`         // the channel of those who name none
}

// PackageChannel is a channel of a package.
type PackageChannel struct {
	Name        string         `json:"name"`                  // as subscriptions write it
	CurrentCSV  string         `json:"currentCSV"`            // its head
	Deprecation *Deprecation   `json:"deprecation,omitempty"` // nil if it is not deprecated
	Entries     []ChannelEntry `json:"entries,omitempty"`     // its bundles; older package servers write none
}

// Deprecation says that something should no longer be used.
type Deprecation struct {
	Message string `json:"message"` // for people
}

// ChannelEntry is a bundle of a channel.
type ChannelEntry struct {
	Name string `json:"name"` // of its CSV
}
