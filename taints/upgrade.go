package taints

import "encoding/json"

// upgradeState reads state of version 1, which did not keep the values of taints.
func upgradeState(_ int, data []byte) (State, error) {
	var s State
	err := json.Unmarshal(data, &s)
	for i := range s.Taints {
		s.Taints[i].Value = anyValue
	}
	return s, err
}

// upgradeZones reads state of version 1, which is of the same form.
func upgradeZones(_ int, data []byte) (ZoneState, error) {
	var s ZoneState
	err := json.Unmarshal(data, &s)
	return s, err
}
