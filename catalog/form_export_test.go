package catalog

import "github.com/fairlead/fairlead/internal/doc"

// Conforms reports what the two checks of a property's form say of a value:
// the quick one and the one that words faults.
func Conforms(typ string, value []byte) (quick, careful bool) {
	f := propertyForms()[typ]
	tree := doc.Tree(value)
	return f.conforms(value), tree != nil && f.misfit(tree) == nil
}
