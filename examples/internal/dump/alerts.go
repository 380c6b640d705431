package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/doc"
)

// Alerts reads the response of Prometheus to /api/v1/alerts, or to /api/v1/rules, which a
// must-gather contains. If there is no such file, the list is nil: the alerts are
// unknown. A response that is an error, or has neither alerts nor rules, is an error.
// Errors name the file.
func Alerts(name string) ([]cvo.Alert, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var answer struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   *struct {
			Alerts []cvo.Alert `json:"alerts"`
			Groups []struct {
				Rules []struct {
					Alerts []cvo.Alert `json:"alerts"`
				} `json:"rules"`
			} `json:"groups"`
		} `json:"data"`
	}
	if err == nil {
		_, err = doc.Parse(text, doc.Limits{})
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case answer.Status == "error":
		return nil, fmt.Errorf("%s: Prometheus answered with an error, %q; query it again, or remove the file", name, answer.Error)
	case answer.Data == nil || answer.Data.Alerts == nil && answer.Data.Groups == nil:
		return nil, fmt.Errorf("%s: it contains neither data.alerts nor data.groups; save the response of Prometheus to /api/v1/alerts, or remove the file", name)
	}
	all := append([]cvo.Alert{}, answer.Data.Alerts...)
	for _, group := range answer.Data.Groups {
		for _, rule := range group.Rules {
			all = append(all, rule.Alerts...)
		}
	}
	return all, nil
}

// AddAlerts adds the alerts of a file to a list; an alert in two files is added once. A list
// that is not nil means that the alerts are known.
func AddAlerts(list []cvo.Alert, file string) ([]cvo.Alert, error) {
	more, err := Alerts(file)
	if err != nil || more == nil {
		return list, err
	}
	if list == nil {
		list = []cvo.Alert{}
	}
	for _, a := range more {
		if !slices.ContainsFunc(list, func(b cvo.Alert) bool {
			return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) && a.ActiveAt.Equal(b.ActiveAt)
		}) {
			list = append(list, a)
		}
	}
	return list, nil
}
