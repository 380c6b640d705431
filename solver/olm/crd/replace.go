package crd

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Object is an existing custom resource.
type Object struct {
	Namespace string          `json:"namespace,omitempty"` // "" if it is cluster-scoped
	Name      string          `json:"name"`                // unique in its namespace
	Data      json.RawMessage `json:"data,omitempty"`      // as read in the requested version
}

// World reports the existing objects of a definition. Users implement it; it is
// never called concurrently.
type World interface {
	// Objects returns the objects of a definition as read in one of its served
	// versions.
	Objects(definition, version string) ([]Object, error)
}

// Validator validates objects. Besides Structural, users may implement it, for
// example with the API server's own validation; it is never called concurrently.
type Validator interface {
	// Validate returns why an object is not valid under a schema, or nil. The
	// schema is never empty.
	Validate(data, schema json.RawMessage) error
}

// Options say how strict Replace is. Nil and the zero value are as strict as the
// Operator Lifecycle Manager.
type Options struct {
	// TrustSoleOwner replaces a definition that one operator owns without looking
	// at the existing objects, as documented.
	TrustSoleOwner bool
	// NoLoss also refuses a change of the scope, which no API server accepts, and
	// the loss of data in fields that the new definition drops.
	NoLoss bool
}

// Rule is what a replacement breaks.
type Rule string

// The rules.
const (
	StoredVersionRemoved Rule = "StoredVersionRemoved" // stored objects could become unreadable
	ServedVersionRemoved Rule = "ServedVersionRemoved" // other owners may use it
	ObjectInvalid        Rule = "ObjectInvalid"        // an existing object would not be valid
	ObjectsUnknown       Rule = "ObjectsUnknown"       // existing objects could not be read
	ScopeChanged         Rule = "ScopeChanged"         // the API server would refuse it; see Options.NoLoss
	FieldLost            Rule = "FieldLost"            // an existing object would lose a field; see Options.NoLoss
)

// Problem is a rule that a replacement breaks, and where.
type Problem struct {
	Rule    Rule   // what is broken
	Version string // the version concerned
	Object  string // "namespace/name" of the object, or ""
	Text    string // what is wrong, why, and how to fix it
	Err     error  // the error of the World or the Validator, or nil
}

// Verdict is whether a definition may be replaced.
type Verdict struct {
	// Problems forbid it: the scope, then stored versions, served versions, and
	// objects by the versions of the old definition and in the order of the World.
	Problems []Problem
	// Warnings are what would forbid it if there were no conversion webhook.
	Warnings []Problem
}

// Allowed reports whether nothing forbids the replacement.
func (v *Verdict) Allowed() bool { return len(v.Problems) == 0 }

// String returns the problems as one text, with the definition's name; it is ""
// if there are none.
func (v *Verdict) String() string {
	texts := make([]string, len(v.Problems))
	for i, p := range v.Problems {
		texts[i] = p.Text
	}
	return strings.Join(texts, "; ")
}

// Replace decides whether an existing definition may be replaced. owners is how
// many installed operators own it, including those whose new version provides the
// replacement:
//
//  1. Every version that the status of the old one lists as stored must be in
//     the new one.
//  2. With several owners, every version that is served must stay served.
//  3. Every existing object must be valid under the new schema of each version
//     that is served before and after. If the new definition converts by
//     webhook, an invalid object is only a warning, since the webhook may fix
//     it.
//  4. With Options.NoLoss the scope must stay, and no existing object may have a
//     field in such a version that the old schema keeps and the new one drops. The
//     API server silently drops it when the object is read.
//
// A nil old definition does not exist, so there is nothing to lose. The World and
// the Validator are called only for rules 3 and 4, and account for the cost.
func Replace(old, new *Definition, owners int, w World, v Validator, opts *Options) *Verdict {
	if opts == nil {
		opts = &Options{}
	}
	r := &replacement{old: old, new: new, noLoss: opts.NoLoss, verdict: &Verdict{}}
	if old == nil {
		return r.verdict
	}
	if was, is := old.Spec.Scope, new.Spec.Scope; opts.NoLoss && was != "" && is != "" && was != is {
		r.refuse(Problem{Rule: ScopeChanged}, "its scope changes from %s to %s, which the API server refuses; keep it, or delete the CRD with all of its objects first", was, is)
	}
	r.stored()
	if owners > 1 {
		r.served()
	}
	if owners > 1 || !opts.TrustSoleOwner {
		r.objects(w, v)
	}
	return r.verdict
}

type replacement struct {
	old, new *Definition
	noLoss   bool
	verdict  *Verdict
}

func (r *replacement) refuse(p Problem, format string, args ...any) {
	p.Text = fmt.Sprintf("CRD %s: ", r.old.Name) + fmt.Sprintf(format, args...)
	r.verdict.Problems = append(r.verdict.Problems, p)
}

func (r *replacement) stored() {
	for _, name := range r.old.Status.StoredVersions {
		if _, ok := r.new.version(name); !ok {
			r.refuse(Problem{Rule: StoredVersionRemoved, Version: name},
				"the new one lacks version %s, in which objects may be stored; keep it, or store every object again in another version and remove %s from status.storedVersions", name, name)
		}
	}
}

func (r *replacement) served() {
	for _, was := range r.old.versions() {
		if is, ok := r.new.version(was.Name); was.Served && (!ok || !is.Served) {
			r.refuse(Problem{Rule: ServedVersionRemoved, Version: was.Name},
				"the new one does not serve version %s, and other operators own the CRD; serve it, or remove those first", was.Name)
		}
	}
}

func (r *replacement) objects(w World, v Validator) {
	for _, was := range r.old.versions() {
		is, ok := r.new.version(was.Name)
		if !was.Served || !ok || !is.Served {
			continue
		}
		schema := r.new.schema(is)
		if len(schema) == 0 {
			continue
		}
		list, err := w.Objects(r.old.Name, was.Name)
		if err != nil {
			r.refuse(Problem{Rule: ObjectsUnknown, Version: was.Name, Err: err}, "objects of version %s cannot be read: %v", was.Name, err)
			continue
		}
		for _, o := range list {
			if err := v.Validate(o.Data, schema); err != nil {
				r.invalid(was.Name, o, err)
			}
			if r.noLoss {
				r.loss(was, o, schema)
			}
		}
	}
}

// loss refuses a version that drops a field of an object.
func (r *replacement) loss(was Version, o Object, schema json.RawMessage) {
	field, err := lost(o.Data, r.old.schema(was), schema)
	if field == "" || err != nil {
		return // what is not JSON is not valid
	}
	name := ObjectMeta{Name: o.Name, Namespace: o.Namespace}.String()
	r.refuse(Problem{Rule: FieldLost, Version: was.Name, Object: name}, "the new version %s drops the field %s, which %s has; keep the field, or remove it from the object first", was.Name, field, name)
}

func (r *replacement) invalid(version string, o Object, err error) {
	name := ObjectMeta{Name: o.Name, Namespace: o.Namespace}.String()
	p := Problem{Rule: ObjectInvalid, Version: version, Object: name, Err: err}
	if r.new.convertsByWebhook() {
		p.Text = fmt.Sprintf("CRD %s: %s is not valid in the new version %s, unless the webhook fixes it: %v", r.old.Name, name, version, err)
		r.verdict.Warnings = append(r.verdict.Warnings, p)
		return
	}
	r.refuse(p, "the validation of the new version %s is too strict for %s: %v; change the object first", version, name, err)
}
