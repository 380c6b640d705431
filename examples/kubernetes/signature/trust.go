package signature

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo/payload"
)

// The config map that defines how releases are verified.
const (
	// Annotation is its annotation, with any value.
	Annotation = "release.openshift.io/verification-config-map"

	prefixKeyring = "verifier-public-key-"
	prefixStore   = "store-"
)

// Trust is how a payload defines the verification of later releases.
type Trust struct {
	Source   string     // the location of the definition, for messages
	Keyrings []*Keyring // by name
	Stores   []Store    // by key in the config map
	Ignored  []string   // keys of the config map that have no meaning here, sorted
}

// ReadTrust finds how a payload defines the verification of releases: in its
// first ConfigMap with the annotation [Annotation], each
// verifier-public-key-NAME contains a keyring and each store-NAME the address
// of a store. opts are for the stores on web servers.
//
// found is false if the payload has no such ConfigMap: it then requires no
// verification, and the caller must decide whether to continue without. A
// ConfigMap that cannot be used is an error: it has no data, an unreadable
// keyring, an invalid address, no keyring or no store.
func ReadTrust(manifests []*payload.Manifest, opts *HTTPOptions) (trust Trust, found bool, err error) {
	for _, m := range manifests {
		if _, ok := m.Annotations[Annotation]; ok && m.ID.Kind == "ConfigMap" && m.ID.Group == "" {
			trust, err = readTrust(m, opts)
			return trust, true, err
		}
	}
	return Trust{}, false, nil
}

func readTrust(m *payload.Manifest, opts *HTTPOptions) (Trust, error) {
	t := Trust{Source: fmt.Sprintf("%s: %s", m.Pos, m.ID)}
	fail := func(err error) (Trust, error) {
		return Trust{}, fmt.Errorf("%s: releases cannot be verified: %w", t.Source, err)
	}
	var object struct {
		Data       map[string]string `json:"data"`
		BinaryData map[string][]byte `json:"binaryData"`
	}
	if err := json.Unmarshal(m.JSON, &object); err != nil {
		return fail(err)
	}
	data := object.BinaryData
	if data == nil {
		data = map[string][]byte{}
	}
	for key, text := range object.Data {
		data[key] = []byte(text)
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		switch {
		case strings.HasPrefix(key, prefixKeyring):
			k, err := ParseKeyring(key, data[key])
			if err != nil {
				return fail(err)
			}
			t.Keyrings = append(t.Keyrings, k)
		case strings.HasPrefix(key, prefixStore):
			s, err := Open(string(data[key]), opts)
			if err != nil {
				return fail(fmt.Errorf("%s: %w", key, err))
			}
			t.Stores = append(t.Stores, s)
		default:
			t.Ignored = append(t.Ignored, key)
		}
	}
	switch {
	case len(data) == 0:
		return fail(fmt.Errorf("it has no data; write keyrings as %s* and stores as %s*", prefixKeyring, prefixStore))
	case len(t.Keyrings) == 0:
		return fail(fmt.Errorf("it has no keyring; write one as %s*", prefixKeyring))
	case len(t.Stores) == 0:
		return fail(fmt.Errorf("it has no store; write one as %s*", prefixStore))
	}
	return t, nil
}
