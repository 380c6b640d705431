package object

import "time"

// ObjectMeta is the part of an object's metadata that the engines read. Its
// JSON names are those of the API, so that what a cluster prints decodes into
// it.
type ObjectMeta struct {
	Name       string `json:"name,omitempty"`       // unique in its namespace
	Namespace  string `json:"namespace,omitempty"`  // where it lives; empty for what lives in none
	Generation int64  `json:"generation,omitempty"` // counts the changes of its spec
	// CreationTimestamp is when it was made; zero if that is not known.
	CreationTimestamp time.Time         `json:"creationTimestamp,omitzero"`
	Labels            map[string]string `json:"labels,omitempty"`      // what selectors look at
	Annotations       map[string]string `json:"annotations,omitempty"` // notes on it
}

// String returns "namespace/name", or the name alone where there is no
// namespace.
func (m ObjectMeta) String() string {
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}
