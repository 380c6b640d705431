package scope

// Missing returns what of some rules others do not allow, as rules of one verb,
// group, resource and name (or URL) each, in the order in which they are listed
// and each once. It returns at most MaxParts; more says that there is more than
// was looked at.
func Missing(have, want []PolicyRule) (missing []PolicyRule, more bool) {
	total := 0
	for _, rule := range want {
		if total = total + parts(rule); total > MaxParts {
			return missing, true
		}
		for _, part := range single(rule) {
			if !covers(have, part) && !covers(missing, part) {
				missing = append(missing, part)
			}
		}
	}
	return missing, false
}
