package graph

import (
	"bytes"
	"encoding/json"

	"github.com/fairlead/fairlead/internal/doc"
)

// riskJSON is a risk as the update service writes it.
type riskJSON struct {
	URL     string `json:"url"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Rules   []Rule `json:"matchingRules"`
}

// MarshalJSON writes the risk as the update service does.
func (r Risk) MarshalJSON() ([]byte, error) {
	rules := r.MatchingRules
	if rules == nil {
		rules = []Rule{}
	}
	return unescaped(riskJSON{r.URL, r.Name, r.Message, rules})
}

type (
	ruleJSON struct {
		Type   string      `json:"type"`
		PromQL *promqlJSON `json:"promql,omitempty"`
		CEL    *celJSON    `json:"cel,omitempty"`
	}
	promqlJSON struct {
		PromQL string `json:"promql"`
	}
	celJSON struct {
		Rule string `json:"rule"`
	}
)

// MarshalJSON writes the rule as the update service does, and an unknown rule
// as it was read.
func (r Rule) MarshalJSON() ([]byte, error) {
	if r.Other != "" {
		return []byte(r.Other), nil
	}
	w := ruleJSON{Type: r.Type}
	switch r.Type {
	case RulePromQL:
		w.PromQL = &promqlJSON{r.Query}
	case RuleCEL:
		w.CEL = &celJSON{r.Query}
	}
	return unescaped(w)
}

// UnmarshalJSON reads the risk as the update service writes it.
func (r *Risk) UnmarshalJSON(data []byte) error {
	var w riskJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*r = Risk{Name: w.Name, URL: w.URL, Message: w.Message, MatchingRules: w.Rules}
	return nil
}

// UnmarshalJSON reads the rule as the update service writes it. An unknown rule
// is not an error.
func (r *Rule) UnmarshalJSON(data []byte) error {
	*r, _ = readRule(doc.Tree(data))
	return nil
}

// riskKey identifies a list of risks.
func riskKey(risks []Risk) string {
	text, err := unescaped(risks)
	if err != nil {
		panic(err) // unreachable: only Rule.Other comes from outside, and it was read from JSON
	}
	return string(text)
}

// unescaped is json.Marshal without the escapes for HTML.
func unescaped(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

type (
	graphJSON struct {
		Version     int         `json:"version"`
		Nodes       []Release   `json:"nodes"`
		Edges       [][2]int32  `json:"edges"`
		Conditional []groupJSON `json:"conditionalEdges"`
	}
	groupJSON struct {
		Edges []edgeJSON `json:"edges"`
		Risks []Risk     `json:"risks"`
	}
	edgeJSON struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
)

// MarshalJSON writes the graph as an update service does, version 1. The order
// is that of the source; conditional edges with the same risks are one group.
// Parse reads an equal graph back.
func (g *Graph) MarshalJSON() ([]byte, error) {
	w := graphJSON{Version: 1, Nodes: g.releases, Edges: [][2]int32{}, Conditional: []groupJSON{}}
	if w.Nodes == nil {
		w.Nodes = []Release{}
	}
	at := map[int32]int{}
	for _, e := range g.order {
		list := g.risksOf(e)
		if list == none {
			w.Edges = append(w.Edges, [2]int32{e.from, e.to})
			continue
		}
		i, known := at[list]
		if !known {
			i = len(w.Conditional)
			at[list] = i
			w.Conditional = append(w.Conditional, groupJSON{Risks: g.risks[list]})
		}
		w.Conditional[i].Edges = append(w.Conditional[i].Edges, edgeJSON{g.releases[e.from].Version, g.releases[e.to].Version})
	}
	return unescaped(w)
}

// risksOf returns the risks of an existing update.
func (g *Graph) risksOf(e plainEdge) int32 {
	for _, out := range g.out[e.from] {
		if out.to == e.to {
			return out.risks
		}
	}
	return none
}
