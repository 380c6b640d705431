package scope

// Missing returns what want allows and have does not, as rules of one verb, group,
// resource and name (or URL) each, in the order in which want lists them and
// without duplicates. It looks at no more than MaxParts permissions; more reports
// whether there are others.
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
