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

// statementType is what the statement says it is.
const statementType = "atomic container signature"

// statement is what is signed: that an image is published under a name.
type statement struct {
	kind   string
	digest string
	name   string // a pull specification, such as quay.io/org/name:tag
}

// parseStatement reads a statement. Members that are not known, or stand there
// twice, or differ by case, are refused: nobody may read it otherwise.
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

// members are where the members of an object go.
type members map[string]any

// object reads one JSON object.
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
			return fmt.Errorf("the member %q is not known", name)
		case seen[name]:
			return fmt.Errorf("the member %q is there twice", name)
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
		return errors.New("something follows the JSON object")
	}
	return nil
}

// check returns nil if the content of a message says that an image of this
// digest is published, in one of the repositories if any are given.
func check(content []byte, digest string, repositories []string) *Failure {
	s, err := parseStatement(content)
	switch {
	case err != nil:
		return failure(Statement, "what is signed is not a statement about an image: %w", err)
	case s.kind != statementType:
		return failure(Statement, "what is signed is of the type %q, and not %q", s.kind, statementType)
	case s.digest != digest:
		return failure(OtherDigest, "what is signed is about another image, %q", s.digest)
	case s.name == "":
		return failure(Statement, "what is signed does not name the image")
	case len(repositories) > 0 && !slices.Contains(repositories, repository(s.name)):
		return failure(OtherName, "what is signed names the image %q, which is none of %s", s.name, strings.Join(repositories, ", "))
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
