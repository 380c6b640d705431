package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// statementType is the type in statements.
const statementType = "atomic container signature"

// statement is the signed statement: that an image is published under a name.
type statement struct {
	kind   string
	digest string
	name   string // a pull specification, such as quay.io/org/name:tag
}

// parseStatement parses a statement. Members that are unknown, duplicate, or
// differ in case are refused, so that no other reader can interpret it
// differently.
func parseStatement(content []byte) (statement, error) {
	var s statement
	var critical, optional, image, identity json.RawMessage
	var creator string
	var timestamp json.Number
	for _, part := range []struct {
		text *json.RawMessage
		into members
	}{
		{(*json.RawMessage)(&content), members{"critical": &critical, "optional": &optional}},
		{&critical, members{"type": &s.kind, "image": &image, "identity": &identity}},
		{&image, members{"docker-manifest-digest": &s.digest}},
		{&identity, members{"docker-reference": &s.name}},
		{&optional, members{"creator": &creator, "timestamp": &timestamp}},
	} {
		if part.text == &optional && (len(optional) == 0 || string(optional) == "null") {
			continue
		}
		if err := object(*part.text, part.into); err != nil {
			return statement{}, err
		}
	}
	return s, nil
}

// members maps the members of an object to their destinations.
type members map[string]any

// object decodes one JSON object.
func object(text []byte, into members) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("a JSON object is missing")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		switch target := into[name]; {
		case target == nil:
			return fmt.Errorf("the member %q is unknown", name)
		case seen[name]:
			return fmt.Errorf("the member %q is a duplicate", name)
		default:
			if err := d.Decode(target); err != nil {
				return fmt.Errorf("the member %q: %w", name, err)
			}
		}
		seen[name] = true
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is data after the JSON object")
	}
	return nil
}

// check returns nil if the content of a message says that an image with the
// digest is published, in one of the repositories if any are given.
func check(content []byte, digest string, repositories []string) *Failure {
	s, err := parseStatement(content)
	switch {
	case err != nil:
		return failure(Statement, "the signed content is not a statement about an image: %w", err)
	case s.kind != statementType:
		return failure(Statement, "the signed statement has the type %q, not %q", s.kind, statementType)
	case s.digest != digest:
		return failure(OtherDigest, "the signed statement is about another image, %q", s.digest)
	case s.name == "":
		return failure(Statement, "the signed statement does not name the image")
	case len(repositories) > 0 && !slices.Contains(repositories, repository(s.name)):
		return failure(OtherName, "the signed statement names the image %q, which is not in %s", s.name, strings.Join(repositories, ", "))
	}
	return nil
}

// repository returns a pull specification without its tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}
