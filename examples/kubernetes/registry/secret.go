package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
)

// PullSecrets reads the contents of pull secrets, the value of their key
// .dockerconfigjson, or of a docker config.json. Of the entries that match a
// repository the longest is used, and of equal ones the first. No text of a
// secret is part of an error.
func PullSecrets(contents ...[]byte) (authn.Keychain, error) {
	k := keychain{}
	for i, content := range contents {
		var config struct {
			Auths map[string]struct {
				Auth          string `json:"auth"`
				Username      string `json:"username"`
				Password      string `json:"password"`
				IdentityToken string `json:"identitytoken"`
				RegistryToken string `json:"registrytoken"`
			} `json:"auths"`
		}
		if err := json.Unmarshal(content, &config); err != nil {
			return nil, fmt.Errorf("pull secret %d: must be JSON of the form {\"auths\":{\"REGISTRY\":{\"auth\":\"…\"}}}", i+1)
		}
		if config.Auths == nil {
			return nil, fmt.Errorf("pull secret %d: has no auths", i+1)
		}
		for where, a := range config.Auths {
			login := authn.AuthConfig{Username: a.Username, Password: a.Password, IdentityToken: a.IdentityToken, RegistryToken: a.RegistryToken}
			if a.Auth != "" {
				plain, err := base64.StdEncoding.DecodeString(a.Auth)
				user, password, ok := strings.Cut(string(plain), ":")
				if err != nil || !ok {
					return nil, fmt.Errorf("pull secret %d: auth of %s is not NAME:PASSWORD in base64", i+1, where)
				}
				login.Username, login.Password = user, password
			}
			where = strings.TrimPrefix(strings.TrimPrefix(where, "https://"), "http://")
			where = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(where, "/v1/"), "/v2/"), "/")
			if where == "" {
				return nil, errors.New("pull secret: an entry in auths names no registry")
			}
			if _, twice := k[where]; !twice {
				k[where] = login
			}
		}
	}
	return k, nil
}

// keychain contains credentials by registry or repository.
type keychain map[string]authn.AuthConfig

// Resolve implements authn.Keychain.
func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	for where := target.String(); ; {
		if login, ok := k[where]; ok {
			return authn.FromConfig(login), nil
		}
		at := strings.LastIndexByte(where, '/')
		if at < 0 {
			return authn.Anonymous, nil
		}
		where = where[:at]
	}
}
