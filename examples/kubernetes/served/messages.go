package served

import (
	"encoding/base64"
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// each calls f for each length-delimited field of a message: strings and
// messages.
func each(data []byte, f func(number protowire.Number, value []byte) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
				return protowire.ParseError(n)
			}
			data = data[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if err := f(number, value); err != nil {
			return err
		}
	}
	return nil
}

// named returns a request for a package.
func named(name string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
}

// text returns a string field of a message.
func text(data []byte, number protowire.Number) (string, error) {
	var out string
	err := each(data, func(n protowire.Number, value []byte) error {
		if n == number {
			out = string(value)
		}
		return nil
	})
	return out, err
}

// deprecation returns the message of a deprecation; nil if there is none.
func deprecation(value []byte) (*string, error) {
	message, err := text(value, 1)
	return &message, err
}

// pkg is a package as returned by a service.
type pkg struct {
	name, channel string // channel is the default one
	channels      []channel
	deprecated    *string
}

// channel is a channel of a package.
type channel struct {
	name, head string
	deprecated *string
}

func readPackage(data []byte) (p pkg, err error) {
	err = each(data, func(number protowire.Number, value []byte) (err error) {
		switch number {
		case 1:
			p.name = string(value)
		case 2:
			var c channel
			err = each(value, func(number protowire.Number, value []byte) (err error) {
				switch number {
				case 1:
					c.name = string(value)
				case 2:
					c.head = string(value)
				case 3:
					c.deprecated, err = deprecation(value)
				}
				return err
			})
			p.channels = append(p.channels, c)
		case 3:
			p.channel = string(value)
		case 4:
			p.deprecated, err = deprecation(value)
		}
		return err
	})
	return p, err
}

// property is a property of a bundle, in the form of catalogs.
type property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// bundle is an entry of a channel, and its bundle.
type bundle struct {
	name, pkg, channel string
	csv, image         string
	objects            []string
	skipRange          string
	replaces           string
	skips              []string
	properties         []property
	deprecated         *string
}

func readBundle(data []byte) (b bundle, err error) {
	err = each(data, func(number protowire.Number, value []byte) (err error) {
		switch number {
		case 1:
			b.name = string(value)
		case 2:
			b.pkg = string(value)
		case 3:
			b.channel = string(value)
		case 4:
			b.csv = string(value)
		case 5:
			b.objects = append(b.objects, string(value))
		case 6:
			b.image = string(value)
		case 10:
			b.skipRange = string(value)
		case 12:
			var p property
			p, err = readProperty(value)
			b.properties = append(b.properties, p)
		case 13:
			b.replaces = string(value)
		case 14:
			b.skips = append(b.skips, string(value))
		case 15:
			b.deprecated, err = deprecation(value)
		}
		return err
	})
	return b, err
}

func readProperty(data []byte) (p property, err error) {
	if p.Type, err = text(data, 1); err != nil {
		return p, err
	}
	value, err := text(data, 2)
	if err != nil {
		return p, err
	}
	if p.Value = json.RawMessage(value); !json.Valid(p.Value) {
		return p, errors.New("the value of a property of type " + p.Type + " is not JSON")
	}
	return p, nil
}

// inline returns the objects of a bundle without an image, as properties.
func (b *bundle) inline() []property {
	objects := b.objects
	if b.image != "" {
		return nil
	}
	if len(objects) == 0 && b.csv != "" {
		objects = []string{b.csv}
	}
	var out []property
	for _, o := range objects {
		value, _ := json.Marshal(map[string]string{"data": base64.StdEncoding.EncodeToString([]byte(o))}) // cannot fail
		out = append(out, property{"olm.bundle.object", value})
	}
	return out
}
