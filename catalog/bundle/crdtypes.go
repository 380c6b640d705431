package bundle

import "github.com/fairlead/fairlead/internal/doc"

// crdTypes has the types of everything in a CustomResourceDefinition, of v1 or
// v1beta1, so that values of a wrong type are found: an API server and the
// reference reject them.
type crdTypes struct {
	Metadata struct {
		CreationTimestamp *string `json:"creationTimestamp"`
		Generation        int64   `json:"generation"`
		UID               string  `json:"uid"`
		ResourceVersion   string  `json:"resourceVersion"`
	} `json:"metadata"`
	Status struct {
		Conditions     []struct{} `json:"conditions"`
		AcceptedNames  CRDNames   `json:"acceptedNames"`
		StoredVersions []string   `json:"storedVersions"`
	} `json:"status"`
	Spec struct {
		columns
		Versions []struct {
			columns
			Deprecated         bool        `json:"deprecated"`
			DeprecationWarning *string     `json:"deprecationWarning"`
			Schema             schemaTypes `json:"schema"`
			Subresources       subresource `json:"subresources"`
		} `json:"versions"`
		Validation   schemaTypes `json:"validation"`
		Subresources subresource `json:"subresources"`
		Conversion   struct {
			Webhook struct {
				ClientConfig             clientConfig `json:"clientConfig"`
				ConversionReviewVersions []string     `json:"conversionReviewVersions"`
			} `json:"webhook"`
			WebhookClientConfig      clientConfig `json:"webhookClientConfig"`
			ConversionReviewVersions []string     `json:"conversionReviewVersions"`
		} `json:"conversion"`
	} `json:"spec"`
}

type columns struct {
	AdditionalPrinterColumns []struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Format      string `json:"format"`
		Description string `json:"description"`
		Priority    int32  `json:"priority"`
		JSONPath    string `json:"jsonPath"`
		OldJSONPath string `json:"JSONPath"`
	} `json:"additionalPrinterColumns"`
	SelectableFields []struct {
		JSONPath string `json:"jsonPath"`
	} `json:"selectableFields"`
}

type schemaTypes struct {
	OpenAPIV3Schema *doc.Value `json:"openAPIV3Schema"`
}

type subresource struct {
	Status struct{} `json:"status"`
	Scale  struct {
		SpecReplicasPath   string  `json:"specReplicasPath"`
		StatusReplicasPath string  `json:"statusReplicasPath"`
		LabelSelectorPath  *string `json:"labelSelectorPath"`
	} `json:"scale"`
}

type clientConfig struct {
	URL     *string `json:"url"`
	Service struct {
		Namespace string  `json:"namespace"`
		Name      string  `json:"name"`
		Path      *string `json:"path"`
		Port      *int32  `json:"port"`
	} `json:"service"`
	CABundle string `json:"caBundle"`
}

// schemaFields are the fields of a schema that do not hold schemas.
type schemaFields struct {
	ID               string       `json:"id"`
	Schema           string       `json:"$schema"`
	Ref              *string      `json:"$ref"`
	Description      doc.AnyText  `json:"description"`
	Type             string       `json:"type"`
	Format           string       `json:"format"`
	Title            doc.AnyText  `json:"title"`
	Maximum          *float64     `json:"maximum"`
	ExclusiveMaximum bool         `json:"exclusiveMaximum"`
	Minimum          *float64     `json:"minimum"`
	ExclusiveMinimum bool         `json:"exclusiveMinimum"`
	MaxLength        *int64       `json:"maxLength"`
	MinLength        *int64       `json:"minLength"`
	Pattern          string       `json:"pattern"`
	MaxItems         *int64       `json:"maxItems"`
	MinItems         *int64       `json:"minItems"`
	UniqueItems      bool         `json:"uniqueItems"`
	MultipleOf       *float64     `json:"multipleOf"`
	Enum             []*doc.Value `json:"enum"`
	MaxProperties    *int64       `json:"maxProperties"`
	MinProperties    *int64       `json:"minProperties"`
	Required         []string     `json:"required"`
	Nullable         bool         `json:"nullable"`
	ExternalDocs     struct {
		Description string `json:"description"`
		URL         string `json:"url"`
	} `json:"externalDocs"`
	PreserveUnknownFields *bool    `json:"x-kubernetes-preserve-unknown-fields"`
	EmbeddedResource      bool     `json:"x-kubernetes-embedded-resource"`
	IntOrString           bool     `json:"x-kubernetes-int-or-string"`
	ListMapKeys           []string `json:"x-kubernetes-list-map-keys"`
	ListType              *string  `json:"x-kubernetes-list-type"`
	MapType               *string  `json:"x-kubernetes-map-type"`
	Validations           []struct {
		Rule              string  `json:"rule"`
		Message           string  `json:"message"`
		MessageExpression string  `json:"messageExpression"`
		Reason            *string `json:"reason"`
		FieldPath         string  `json:"fieldPath"`
		OptionalOldSelf   *bool   `json:"optionalOldSelf"`
	} `json:"x-kubernetes-validations"`
}

// schemaParts are the fields of a schema that hold schemas.
type schemaParts struct {
	Items                *doc.Value            `json:"items"` // a schema or a list of them
	AllOf                []*doc.Value          `json:"allOf"`
	OneOf                []*doc.Value          `json:"oneOf"`
	AnyOf                []*doc.Value          `json:"anyOf"`
	Not                  *doc.Value            `json:"not"`
	Properties           map[string]*doc.Value `json:"properties"`
	AdditionalProperties *doc.Value            `json:"additionalProperties"` // a schema or a boolean
	PatternProperties    map[string]*doc.Value `json:"patternProperties"`
	Dependencies         map[string]*doc.Value `json:"dependencies"` // schemas or lists of names
	AdditionalItems      *doc.Value            `json:"additionalItems"`
	Definitions          map[string]*doc.Value `json:"definitions"`
}

// schemaFaults returns the values of a wrong type in a CRD, where [CRD] does
// not decode them.
func schemaFaults(tree *doc.Value) []*doc.Mismatch {
	var t crdTypes
	s := schemaChecker{faults: doc.Decode(tree, &t, doc.Exact)}
	for i, v := range t.Spec.Versions {
		s.path = []any{"spec", "versions", i, "schema", "openAPIV3Schema"}
		s.schema(v.Schema.OpenAPIV3Schema)
	}
	s.path = []any{"spec", "validation", "openAPIV3Schema"}
	s.schema(t.Spec.Validation.OpenAPIV3Schema)
	return s.faults
}

type schemaChecker struct {
	path   []any
	faults []*doc.Mismatch
	look   func(*doc.Value, *schemaFields, *schemaParts) // at each schema; nil looks at types alone
}

// decode decodes v into into and reports what does not fit.
func (s *schemaChecker) decode(v *doc.Value, into any) {
	for _, m := range doc.Decode(v, into, doc.Exact) {
		m.Steps = append(s.path[:len(s.path):len(s.path)], m.Steps...)
		s.faults = append(s.faults, m)
	}
}

func (s *schemaChecker) schema(v *doc.Value) {
	if v.Null() {
		return
	}
	var all struct {
		schemaFields
		schemaParts
	}
	s.decode(v, &all)
	if v.Kind != '{' {
		return
	}
	if s.look != nil {
		s.look(v, &all.schemaFields, &all.schemaParts)
	}
	for i := range v.Members {
		m := &v.Members[i]
		s.within(m.Key, func() { s.part(m) })
	}
}

// within runs f with further steps on the path.
func (s *schemaChecker) within(step any, f func()) {
	s.path = append(s.path, step)
	f()
	s.path = s.path[:len(s.path)-1]
}

// part checks the schemas that a field of a schema holds.
func (s *schemaChecker) part(m *doc.Value) {
	switch m.Key {
	case "not":
		s.schema(m)
	case "items":
		if m.Kind == '[' {
			s.each(m)
		} else {
			s.schema(m)
		}
	case "additionalProperties", "additionalItems":
		if m.Kind != 't' && m.Kind != 'f' {
			s.schema(m)
		}
	case "allOf", "oneOf", "anyOf", "properties", "patternProperties", "definitions":
		s.each(m)
	case "dependencies":
		for i := range m.Members {
			d := &m.Members[i]
			s.within(d.Key, func() {
				if d.Kind == '[' {
					s.decode(d, new([]string))
				} else {
					s.schema(d)
				}
			})
		}
	}
}

// each checks the schemas in an object or array.
func (s *schemaChecker) each(v *doc.Value) {
	for i := range v.Members {
		step := any(i)
		if v.Kind == '{' {
			step = v.Members[i].Key
		}
		s.within(step, func() { s.schema(&v.Members[i]) })
	}
}
