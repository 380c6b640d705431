package payload

import (
	"fmt"
	"strings"
	"text/template/parse"
)

// render fills in the values that templates of the manifests directory may
// use: {{.ReleaseImage}}, {{.ClusterProfile}}, {{index .Images "tag"}} and
// quoted text. Anything else is an error: the template is from a newer
// release, or would need a language that this package does not run.
func (l *loader) render(file string, text []byte) ([]byte, error) {
	if !strings.Contains(string(text), "{{") {
		return text, nil
	}
	tree := parse.New(file)
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(string(text), "", "", make(map[string]*parse.Tree)); err != nil {
		return nil, err
	}
	var out strings.Builder
	if tree.Root != nil {
		for _, n := range tree.Root.Nodes {
			switch n := n.(type) {
			case *parse.TextNode:
				out.Write(n.Text)
			case *parse.ActionNode:
				s, err := l.action(n)
				if err != nil {
					return nil, err
				}
				out.WriteString(s)
			case *parse.CommentNode:
			default:
				return nil, unknownAction(n)
			}
		}
	}
	return []byte(out.String()), nil
}

func unknownAction(n parse.Node) error {
	return fmt.Errorf("template: %s uses an unknown value", quote(n.String()))
}

// action returns the value of an action.
func (l *loader) action(n *parse.ActionNode) (string, error) {
	if len(n.Pipe.Decl) > 0 || len(n.Pipe.Cmds) != 1 {
		return "", unknownAction(n)
	}
	args := n.Pipe.Cmds[0].Args
	switch first := args[0].(type) {
	case *parse.StringNode:
		if len(args) == 1 {
			return first.Text, nil
		}
	case *parse.FieldNode:
		if len(args) == 1 && len(first.Ident) == 1 {
			switch first.Ident[0] {
			case "ReleaseImage":
				return l.opts.ReleaseImage, nil
			case "ClusterProfile":
				return l.opts.Profile, nil
			}
		}
	case *parse.IdentifierNode:
		if first.Ident == "index" && len(args) == 3 && args[1].String() == ".Images" {
			if tag, ok := args[2].(*parse.StringNode); ok {
				return l.images[tag.Text], nil
			}
		}
	}
	return "", unknownAction(n)
}
