package object

import "github.com/fairlead/fairlead"

// FirstMatch returns the index of the first toleration that matches the taint,
// or -1; with Lt and Gt if numbers is set.
func FirstMatch(tolerations []fairlead.Toleration, taint *fairlead.Taint, numbers bool) int {
	for i := range tolerations {
		if tolerations[i].Matches(taint, numbers) {
			return i
		}
	}
	return -1
}
