package install_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/install"
)

// kubectl runs a command line as a shell and kubectl would, on the objects of the
// namespace. It reports whether that changes anything, or what is wrong with it.
func (s *advised) kubectl(line string) (changed bool, problem string) {
	words, problem := shellWords(line)
	if problem != "" {
		return false, fmt.Sprintf("%q: %s", line, problem)
	}
	input := ""
	if len(words) > 4 && words[0] == "printf" && words[3] == "|" {
		input, words = words[2], words[4:]
	}
	if words[0] != "kubectl" {
		return false, "no such program: " + line
	}
	c := parseCall(words[1:])
	if len(c.operands) == 0 {
		return false, "no verb: " + line
	}
	switch verb := c.operands[0]; verb {
	case "get", "describe", "auth":
		return false, ""
	case "create":
		return true, s.create(input)
	case "delete", "patch":
		if len(c.operands) != 3 {
			return false, "a kind and a name are expected: " + line
		}
		return true, s.change(verb, c.operands[1], c.flags["-n"], c.operands[2], c.flags["-p"])
	}
	return false, "no such verb: " + line
}

// call is a command line of kubectl.
type call struct {
	operands []string
	flags    map[string]string
}

func parseCall(words []string) call {
	c := call{flags: map[string]string{}}
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case slices.Contains([]string{"-n", "-p", "-l", "-o", "-f", "--type"}, w) && i+1 < len(words):
			c.flags[w] = words[i+1]
			i++
		case strings.HasPrefix(w, "-"):
			c.flags[w] = ""
		default:
			c.operands = append(c.operands, w)
		}
	}
	return c
}

// shellWords splits a line as a POSIX shell does, for the quotes that are printed.
func shellWords(line string) (words []string, problem string) {
	var word strings.Builder
	begun := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, "a quote is open"
			}
			word.WriteString(line[i+1 : i+1+end])
			begun, i = true, i+1+end
		case c == '\\' && i+1 < len(line):
			word.WriteByte(line[i+1])
			begun, i = true, i+1
		case c == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case strings.IndexByte("$`\"*?[]()<>&;#~{}", c) >= 0:
			return nil, fmt.Sprintf("%q is not quoted", c)
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, ""
}

func (s *advised) create(manifest string) (problem string) {
	var head struct{ Kind string }
	if err := json.Unmarshal([]byte(manifest), &head); err != nil {
		return err.Error()
	}
	s.edit(func(w *install.World) {
		switch head.Kind {
		case "OperatorGroup":
			var g install.OperatorGroup
			problem = errorText(json.Unmarshal([]byte(manifest), &g.OperatorGroup))
			w.Groups = append(w.Groups, g)
		case "Subscription":
			var x install.Subscription
			problem = errorText(json.Unmarshal([]byte(manifest), &x.Subscription))
			w.Subscriptions = append(w.Subscriptions, x)
		default:
			problem = "no such kind: " + head.Kind
		}
	})
	return problem
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// change deletes or patches an object.
func (s *advised) change(verb, kind, namespace, name, patch string) (problem string) {
	s.edit(func(w *install.World) {
		found := false
		switch kind {
		case "operatorgroup":
			w.Groups, found, problem = changed(w.Groups, verb, patch, func(g *install.OperatorGroup) bool { return g.Name == name && namespace == ns })
		case "catalogsource":
			w.Catalogs, found, problem = changed(w.Catalogs, verb, patch, func(c *install.Catalog) bool { return c.Name == name && c.Namespace == namespace })
		case "installplan":
			w.Plans, found, problem = changed(w.Plans, verb, patch, func(p *install.InstallPlan) bool { return p.Name == name && namespace == ns })
		case "operatorconditions.operators.coreos.com":
			w.Conditions, found, problem = changed(w.Conditions, verb, patch, func(o *install.OperatorCondition) bool { return o.Name == name && namespace == ns })
		case "subscriptions.operators.coreos.com":
			w.Subscriptions, found, problem = changed(w.Subscriptions, verb, patch, func(x *install.Subscription) bool { return x.Name == name && namespace == ns })
		case "csv":
			w.CSVs, _, problem = changed(w.CSVs, verb, patch, func(c *install.CSV) bool { return c.Name == name })
			found = true // --ignore-not-found
		}
		if !found && problem == "" {
			problem = fmt.Sprintf("%s %s %s/%s: there is none", verb, kind, namespace, name)
		}
	})
	return problem
}

// changed returns a list with one object deleted or patched.
func changed[T any](list []T, verb, patch string, is func(*T) bool) (out []T, found bool, problem string) {
	at := slices.IndexFunc(list, func(x T) bool { return is(&x) })
	if at < 0 {
		return list, false, ""
	}
	if verb == "delete" {
		return slices.Delete(slices.Clone(list), at, at+1), true, ""
	}
	text, err := json.Marshal(list[at])
	if err != nil {
		return list, true, err.Error()
	}
	var object, change map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return list, true, err.Error()
	}
	if err := json.Unmarshal([]byte(patch), &change); err != nil {
		return list, true, err.Error()
	}
	merged, err := json.Marshal(merge(object, change))
	if err != nil {
		return list, true, err.Error()
	}
	out = slices.Clone(list)
	var next T
	if err := json.Unmarshal(merged, &next); err != nil {
		return list, true, err.Error()
	}
	out[at] = next
	return out, true, ""
}

// merge is a JSON merge patch.
func merge(object, patch map[string]any) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(out, key)
		case isObject:
			old, _ := out[key].(map[string]any)
			out[key] = merge(old, inner)
		default:
			out[key] = value
		}
	}
	return out
}
