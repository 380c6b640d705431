package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver/olm"
)

// namespace is the namespace of tried subscriptions: operators there serve the whole
// cluster.
const namespace = "openshift-operators"

// Slim returns the documents of a catalog as JSON, one per line, without the parts that no
// answer depends on, such as manifests, icons and descriptions.
func Slim(c *catalog.Catalog) (string, error) {
	var b strings.Builder
	for d := range c.Ordered() {
		text, err := d.JSON()
		if err != nil {
			return "", err
		}
		switch d.Schema() {
		case catalog.SchemaPackage, catalog.SchemaBundle:
			if text, err = slim(text); err != nil {
				return "", fmt.Errorf("%s: %w", d.Pos(), err)
			}
		case catalog.SchemaChannel, catalog.SchemaDeprecations:
			var line bytes.Buffer
			if err := json.Compact(&line, text); err != nil {
				return "", fmt.Errorf("%s: %w", d.Pos(), err)
			}
			text = line.Bytes()
		default:
			continue
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// slim returns a package or a bundle without the parts that are only shown or applied.
func slim(text []byte) ([]byte, error) {
	type property struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	var d struct {
		Schema         string     `json:"schema"`
		Package        string     `json:"package,omitempty"`
		Name           string     `json:"name"`
		DefaultChannel string     `json:"defaultChannel,omitempty"`
		Image          string     `json:"image,omitempty"`
		Properties     []property `json:"properties,omitempty"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	d.Properties = slices.DeleteFunc(d.Properties, func(p property) bool { return p.Type == catalog.PropertyBundleObject })
	for i := range d.Properties {
		if p := &d.Properties[i]; p.Type == catalog.PropertyCSVMetadata {
			var kept struct {
				MinKubeVersion string          `json:"minKubeVersion,omitempty"`
				NativeAPIs     json.RawMessage `json:"nativeAPIs,omitempty"`
			}
			err := json.Unmarshal(p.Value, &kept)
			if err == nil {
				p.Value, err = json.Marshal(kept)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(d)
}

// packages lists what can be subscribed to, by name: the packages, and their channels.
func (in *Input) packages() (list []string, err error) {
	c, err := in.open()
	if err != nil {
		return nil, err
	}
	for p := range c.Packages() {
		list = append(list, p.Name())
		for ch := range p.Channels() {
			list = append(list, p.Name()+"/"+ch.Name())
		}
	}
	return list, nil
}

// open reads the catalog.
func (in *Input) open() (*catalog.Catalog, error) {
	var all []*catalog.Document
	for d, err := range catalog.Decode(strings.NewReader(in.Catalog), nil) {
		if err != nil {
			return nil, fmt.Errorf("the catalog of the page: %w", err)
		}
		all = append(all, d)
	}
	return catalog.New(all), nil
}

// subscribe adds what subscriptions would install to the operators of the cluster, and
// describes it, or why it is not possible.
func (in *Input) subscribe(ctx context.Context, names []string) ([]Said, error) {
	if len(names) == 0 {
		return nil, nil
	}
	c, err := in.open()
	if err != nil {
		return nil, err
	}
	req := &olm.Request{Namespace: namespace}
	for _, csv := range in.Installed {
		if csv.Namespace == namespace {
			req.Installed = append(req.Installed, csv)
		}
	}
	for _, name := range names {
		pkg, channel, _ := strings.Cut(name, "/")
		req.Subscriptions = append(req.Subscriptions, olm.Subscription{ObjectMeta: fairlead.ObjectMeta{Namespace: namespace, Name: pkg}, Spec: olm.SubscriptionSpec{Package: pkg, Channel: channel}})
	}
	res, err := olm.Resolve(ctx, []olm.Source{{SourceKey: olm.SourceKey{Name: "catalog"}, Catalog: c}}, req, nil)
	var unsat *olm.UnsatError
	switch {
	case errors.As(err, &unsat):
		return []Said{{Bad, words.List(names, "and", 6) + " cannot be installed: " + err.Error()}}, nil
	case err != nil:
		return nil, err
	}
	var says []Said
	var subscriptions []olm.Subscription
	var csvs []olm.ClusterServiceVersion
	for _, o := range res.Chosen {
		text := "Installs " + o.Name + " from channel " + o.Channel
		if len(o.Subscriptions) == 0 && len(o.RequiredBy) > 0 {
			text += ", because " + o.RequiredBy[0].Operator + " requires " + o.RequiredBy[0].Text
		}
		says = append(says, Said{Good, text})
		csv, err := olm.InstalledFrom(o.Bundle, namespace)
		if err != nil {
			return nil, err
		}
		csvs = append(csvs, csv)
		subscriptions = append(subscriptions, olm.Subscription{ObjectMeta: fairlead.ObjectMeta{Namespace: namespace, Name: o.Package},
			Spec: olm.SubscriptionSpec{Package: o.Package, Channel: o.Channel}, Status: olm.SubscriptionStatus{InstalledCSV: o.Name}})
	}
	for _, o := range res.Subscriptions {
		for _, why := range o.Why {
			says = append(says, Said{Note, why})
		}
	}
	if in.Situation.Operators == nil {
		return says, nil // the installed operators are not known
	}
	more, err := plan.ReadOperators(map[string]*catalog.Catalog{"": c}, &plan.Installed{Subscriptions: subscriptions, CSVs: csvs})
	if err != nil {
		return nil, err
	}
	s := *in.Situation
	s.Operators = append(slices.Clip(s.Operators), more...)
	slices.SortStableFunc(s.Operators, func(a, b plan.Operator) int { return strings.Compare(a.Package, b.Package) })
	in.Situation = &s
	return says, nil
}
